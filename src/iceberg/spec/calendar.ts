/**
 * Days, times and timestamps as numbers, civil dates and text. The proleptic Gregorian calendar is
 * computed, not asked of `Date`: a 32-bit day reaches years that `Date` cannot hold.
 */

export const MICROS_PER_DAY = 86_400_000_000n;
const MICROS_PER_HOUR = 3_600_000_000n;
const MICROS_PER_SECOND = 1_000_000n;
const NANOS_PER_MICRO = 1_000n;
const NANOS_PER_SECOND = 1_000_000_000n;

/** Days in 400 years, after which the calendar repeats. */
const DAYS_PER_ERA = 146_097;
/** From 0000-03-01 to 1970-01-01: years that begin in March end with the leap day. */
const DAYS_FROM_MARCH_0000 = 719_468;

export interface CivilDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
}

/** Division that rounds towards negative infinity: what is before 1970 belongs to the unit before. */
export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}

export function nanosToMicros(nanos: bigint): bigint {
  return floorDivide(nanos, NANOS_PER_MICRO);
}

export function microsToDays(micros: bigint): number {
  return Number(floorDivide(micros, MICROS_PER_DAY));
}

export function microsToHours(micros: bigint): number {
  return Number(floorDivide(micros, MICROS_PER_HOUR));
}

/** The civil date of a day, counted from 1970-01-01. */
export function daysToCivil(days: number): CivilDate {
  const shifted = days + DAYS_FROM_MARCH_0000;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** The day of a civil date, counted from 1970-01-01. */
export function civilToDays({ year, month, day }: CivilDate): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - DAYS_FROM_MARCH_0000;
}

/** `2017-11-16`. */
export function dateText(days: number): string {
  const { year, month, day } = daysToCivil(days);
  return `${yearText(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** At least four digits; years before 0 with a sign. */
export function yearText(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0');
  return year < 0 ? `-${digits}` : digits;
}

export function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** `22:31:08.123456` of microseconds since midnight; always six digits of fraction. */
export function timeText(micros: bigint): string {
  return clockText(micros / MICROS_PER_SECOND, micros % MICROS_PER_SECOND, 6);
}

/** `2017-11-16T22:31:08.123456`, without a zone. */
export function timestampText(micros: bigint): string {
  const days = floorDivide(micros, MICROS_PER_DAY);
  return `${dateText(Number(days))}T${timeText(micros - days * MICROS_PER_DAY)}`;
}

/** The same of nanoseconds, with nine digits of fraction. */
export function nanoTimestampText(nanos: bigint): string {
  const seconds = floorDivide(nanos, NANOS_PER_SECOND);
  const secondsPerDay = MICROS_PER_DAY / MICROS_PER_SECOND;
  const days = floorDivide(seconds, secondsPerDay);
  const fraction = nanos - seconds * NANOS_PER_SECOND;
  return `${dateText(Number(days))}T${clockText(seconds - days * secondsPerDay, fraction, 9)}`;
}

/** Days of `2017-11-16`; null when the text is not a date of the calendar. */
export function parseDate(text: string): number | null {
  const match = /^([+-]?\d{4,7})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return null;
  const days = civilToDays({
    year: Number(match[1]),
    month: Number(match[2]),
    day: Number(match[3]),
  });
  // The 30th of February would come back as a day in March.
  const month = Number(match[2]);
  const isReal = month >= 1 && month <= 12 && dateText(days).endsWith(text.slice(-5));
  return isReal ? days : null;
}

/** Microseconds since midnight of `22:31:08.123456`, or nanoseconds with `digits` 9; null when malformed. */
export function parseTime(text: string, digits: 6 | 9): bigint | null {
  const match = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/.exec(text);
  if (match === null) return null;
  const [hours, minutes, seconds] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
  const fraction = match[4] ?? '';
  if (hours > 23 || minutes > 59 || seconds > 59 || fraction.length > digits) return null;
  const unitsPerSecond = 10n ** BigInt(digits);
  const wholeSeconds = BigInt(hours * 3600 + minutes * 60 + seconds);
  return wholeSeconds * unitsPerSecond + BigInt(fraction.padEnd(digits, '0'));
}

function clockText(secondOfDay: bigint, fraction: bigint, digits: number): string {
  const seconds = Number(secondOfDay);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${clock.map(twoDigits).join(':')}.${String(fraction).padStart(digits, '0')}`;
}
