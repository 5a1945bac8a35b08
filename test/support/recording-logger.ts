import type { LogFields, Logger } from '../../src/iceberg/ports.ts';

/** Keeps what was logged, for tests that look at it. */
export class RecordingLogger implements Logger {
  readonly entries: { level: string; event: string; fields: LogFields }[] = [];

  debug(event: string, fields: LogFields = {}): void {
    this.entries.push({ level: 'debug', event, fields });
  }

  info(event: string, fields: LogFields = {}): void {
    this.entries.push({ level: 'info', event, fields });
  }

  warn(event: string, fields: LogFields = {}): void {
    this.entries.push({ level: 'warn', event, fields });
  }

  error(event: string, fields: LogFields = {}): void {
    this.entries.push({ level: 'error', event, fields });
  }
}
