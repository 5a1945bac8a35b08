/**
 * Follows the structure of a zstd stream while its bytes pass: where a frame ends, and how much each
 * part may become. A decoder alone tells neither in time: it stops in silence after the first frame,
 * and allocates whatever window a frame asks for.
 *
 * Source: RFC 8878, sections 3.1.1 (frames, blocks) and 3.1.2 (skippable frames).
 */

import { IcebergError } from '../iceberg/errors.ts';

/** What every decoder should take (RFC 8878, 3.1.1.1.2); the usual levels ask for less. */
export const ZSTD_WINDOW_BYTES_MAX = 8 * 1024 * 1024;
/** Each costs a decoder. */
export const ZSTD_FRAMES_MAX = 10_000;
const BLOCK_BYTES_MAX = 128 * 1024;
/** A part becomes about as much at most before it is handed on. */
const PART_DECODED_BYTES = 1024 * 1024;

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAGIC_BYTES = 4;
const MAGIC_TEXT = new Uint8Array([0x28, 0xb5, 0x2f, 0xfd]);

export interface ZstdPart {
  readonly bytes: Uint8Array;
  readonly endsFrame: boolean;
}

type Field = 'magic' | 'skippable-size' | 'descriptor' | 'header' | 'block-header' | 'checksum';

export class ZstdScanner {
  /** What is read next, how long it is, and what of it is there. */
  #field: Field = 'magic';
  #fieldBytes = MAGIC_BYTES;
  readonly #read: number[] = [];
  /** Bytes of a block, or of a skippable frame, still to pass. */
  #contentBytes = 0;
  #isSkipping = false;
  #isLastBlock = false;
  #descriptor = 0;
  #frames = 0;
  #decodedBytes = 0;

  /** Whether the bytes so far are whole frames. */
  get isComplete(): boolean {
    return this.#field === 'magic' && this.#read.length === 0 && this.#contentBytes === 0;
  }

  get isEmpty(): boolean {
    return this.#frames === 0;
  }

  /**
   * The parts of the next bytes that a decoder is to be given.
   * @throws invalid `body.zstd-malformed`; too-large `body.inflates-too-much`
   */
  *parts(chunk: Uint8Array): Generator<ZstdPart, void, undefined> {
    let start = 0;
    let offset = 0;
    const take = (endsFrame: boolean): ZstdPart => {
      const bytes = chunk.subarray(start, offset);
      start = offset;
      this.#decodedBytes = 0;
      return { bytes, endsFrame };
    };
    while (offset < chunk.byteLength) {
      if (this.#contentBytes > 0) {
        const passed = Math.min(this.#contentBytes, chunk.byteLength - offset);
        this.#contentBytes -= passed;
        offset += passed;
        if (this.#isSkipping) start = offset;
        if (this.#contentBytes > 0) continue;
        if (this.#isSkipping) this.#expect('magic', MAGIC_BYTES);
        else if (this.#endBlock()) yield take(true);
        else if (this.#decodedBytes >= PART_DECODED_BYTES) yield take(false);
        continue;
      }
      this.#read.push(chunk[offset] ?? 0);
      offset += 1;
      if (this.#read.length < this.#fieldBytes) continue;
      const field = this.#field;
      if (this.#endField()) yield take(true);
      // Whether a frame is one to be skipped is only known once its magic number is there, perhaps
      // in another chunk: the number is handed on by itself.
      if (field === 'magic' || field === 'skippable-size') start = offset;
      if (field === 'magic' && !this.#isSkipping) yield { bytes: MAGIC_TEXT, endsFrame: false };
    }
    if (start < offset && this.#field !== 'magic' && !this.#isSkipping) yield take(false);
  }

  #expect(field: Field, bytes: number): void {
    this.#field = field;
    this.#fieldBytes = bytes;
    this.#read.length = 0;
    if (field === 'magic') this.#isSkipping = false;
  }

  /** The field is there. Answers whether the frame ends with it. */
  #endField(): boolean {
    switch (this.#field) {
      case 'magic':
        this.#startFrame(this.#number());
        return false;
      case 'skippable-size':
        this.#contentBytes = this.#number();
        if (this.#contentBytes === 0) this.#expect('magic', MAGIC_BYTES);
        return false;
      case 'descriptor': {
        this.#descriptor = this.#number();
        const bytes = headerBytes(this.#descriptor);
        if (bytes === 0) throw malformed('a frame says neither its window nor its size');
        this.#expect('header', bytes);
        return false;
      }
      case 'header':
        this.#checkWindow();
        this.#expect('block-header', 3);
        return false;
      case 'block-header':
        return this.#startBlock(this.#number());
      case 'checksum':
        this.#expect('magic', MAGIC_BYTES);
        return true;
    }
  }

  #startFrame(magic: number): void {
    this.#isSkipping = (magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC;
    if (this.#isSkipping) {
      this.#expect('skippable-size', 4);
      return;
    }
    if (magic !== MAGIC) throw malformed('a frame does not begin as one');
    this.#frames += 1;
    if (this.#frames > ZSTD_FRAMES_MAX) {
      throw tooMuch(`The body has more than ${ZSTD_FRAMES_MAX} zstd frames.`);
    }
    this.#expect('descriptor', 1);
  }

  #checkWindow(): void {
    const isSingleSegment = (this.#descriptor & 0x20) !== 0;
    const windowBytes = isSingleSegment ? this.#contentSize() : windowSize(this.#read[0] ?? 0);
    if (windowBytes <= ZSTD_WINDOW_BYTES_MAX) return;
    throw tooMuch(
      `The body was compressed with a zstd window above ${ZSTD_WINDOW_BYTES_MAX} bytes: choose a lower level.`,
    );
  }

  #contentSize(): number {
    const bytes = this.#read.slice(dictionaryIdBytes(this.#descriptor));
    const size = numberOf(bytes);
    return bytes.length === 2 ? size + 256 : size;
  }

  #startBlock(header: number): boolean {
    this.#isLastBlock = (header & 1) === 1;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === 3 || size > BLOCK_BYTES_MAX) throw malformed('a block of no known kind');
    this.#decodedBytes += type === 2 ? BLOCK_BYTES_MAX : size;
    this.#contentBytes = type === 1 ? 1 : size;
    this.#expect('block-header', 3);
    return this.#contentBytes === 0 && this.#endBlock();
  }

  /** Answers whether the frame ends with it. */
  #endBlock(): boolean {
    if (!this.#isLastBlock) return false;
    const hasChecksum = (this.#descriptor & 0x04) !== 0;
    this.#isLastBlock = false;
    if (hasChecksum) this.#expect('checksum', 4);
    else this.#expect('magic', MAGIC_BYTES);
    return !hasChecksum;
  }

  #number(): number {
    return numberOf(this.#read);
  }
}

/** Little-endian; beyond 2^53 not exact, which is far beyond every bound. */
function numberOf(bytes: readonly number[]): number {
  return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
}

function dictionaryIdBytes(descriptor: number): number {
  return [0, 1, 2, 4][descriptor & 3] ?? 0;
}

function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return (isSingleSegment ? 0 : 1) + dictionaryIdBytes(descriptor) + contentSizeBytes;
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function malformed(problem: string): IcebergError {
  return new IcebergError(
    'invalid',
    'body.zstd-malformed',
    `The body is not valid zstd although Content-Encoding says so: ${problem}.`,
  );
}

function tooMuch(message: string): IcebergError {
  return new IcebergError('too-large', 'body.inflates-too-much', message);
}
