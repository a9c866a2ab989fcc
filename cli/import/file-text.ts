import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UnreadableExport } from './source.ts';

/** The largest export, unpacked, in bytes: a small file may unpack to any size. */
export const MAX_EXPORT_BYTES = 4 * 1024 ** 3;

/** The first bytes of a file. */
export async function firstBytes(path: string, count: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Reads a text file in UTF-8, which may be packed with gzip, in pieces. Throws `UnreadableExport`. */
export async function* fileText(path: string, maxBytes = MAX_EXPORT_BYTES): AsyncGenerator<string> {
  const [one, two] = await firstBytes(path, 2);
  const packed = one === 0x1f && two === 0x8b;
  const file = createReadStream(path);
  const bytes = packed ? pipeline(file, createGunzip(), () => {}) : file;
  const decoder = new TextDecoder();
  let read = 0;
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > maxBytes)
        throw new UnreadableExport(`the file has more than ${maxBytes} bytes, unpacked`);
      yield decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_'))
      throw new UnreadableExport('the gzip file is damaged', { cause: error });
    throw error;
  }
  yield decoder.decode();
}
