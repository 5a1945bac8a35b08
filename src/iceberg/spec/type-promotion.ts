/** Which types a column may be widened to. Spec: "Schema Evolution". */

import type { FormatVersion } from './table-metadata.ts';
import type { PrimitiveType, Type } from './schema.ts';

/** Whether every value of `from` is one of `to`, and readers know how; false for equal types. */
export function canPromote(from: PrimitiveType, to: Type, formatVersion: FormatVersion): boolean {
  switch (from.type) {
    case 'int':
      return to.type === 'long';
    case 'float':
      return to.type === 'double';
    case 'decimal':
      return to.type === 'decimal' && to.scale === from.scale && to.precision > from.precision;
    case 'date':
      // Never to a type with a zone: a date names no instant.
      return formatVersion >= 3 && (to.type === 'timestamp' || to.type === 'timestamp_ns');
    case 'unknown':
      return formatVersion >= 3 && to.type !== 'unknown';
    default:
      return false;
  }
}
