/** Names that Avro allows: `[A-Za-z_][A-Za-z0-9_]*`. The original is kept in `iceberg-field-name`. */

/**
 * The name as the Java library sanitises it: a leading digit gets `_` before it, any other foreign
 * character becomes `_x` and its code in hex. The code is that of a UTF-16 unit, as in Java.
 */
export function sanitizeAvroName(name: string): string {
  let sanitized = '';
  for (let i = 0; i < name.length; i += 1) {
    const character = name.charAt(i);
    if (/[A-Za-z_]/.test(character) || (i > 0 && /[0-9]/.test(character))) sanitized += character;
    else if (/[0-9]/.test(character)) sanitized += `_${character}`;
    else sanitized += `_x${name.charCodeAt(i).toString(16).toUpperCase()}`;
  }
  return sanitized === '' ? '_' : sanitized;
}

/** Sanitised names, in order, made unique by a number where two fall together. */
export function uniqueAvroNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const sanitized = sanitizeAvroName(name);
    let unique = sanitized;
    for (let n = 2; taken.has(unique); n += 1) unique = `${sanitized}_${n}`;
    taken.add(unique);
    return unique;
  });
}
