import { createHash, type Hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';

const MANIFEST = 'manifest.json';
const CHECKSUM = 'manifest.sha256';
export const KEYS_FILE = 'server-keys.sealed';

const Manifest = z.object({
  format: z.literal(1),
  release: z.string(),
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
  postgres: z.string(),
  /** The database's time at which the state was read. */
  taken_at: z.string(),
  /** The epoch of the log, its newest position, and the number of its events. */
  epoch: z.int(),
  position: z.int(),
  /** Where the sequence of positions was. */
  last_position: z.int(),
  /** The tables, in the order in which they are loaded. */
  tables: z.array(
    z.object({ name: z.string(), columns: z.array(z.string()), rows: z.int(), file: z.string() }),
  ),
  /** SHA-256 of every other file. */
  files: z.record(z.string(), z.string()),
});
export type Manifest = z.infer<typeof Manifest>;

/** Creates the folder of a backup. Throws if it already holds something. */
export function createFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
}

/** Writes rows into a compressed file; returns the SHA-256 of the file. */
export async function writeRows(folder: string, file: string, rows: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(
    rows,
    createGzip({ level: 1 }),
    hashing(hash),
    createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600 }),
  );
  return hash.digest('hex');
}

function hashing(hash: Hash) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

/** Writes a small file; returns its SHA-256. */
export function writeBytes(folder: string, file: string, bytes: string | Buffer): string {
  writeFileSync(join(folder, file), bytes, { flag: 'wx', mode: 0o600, flush: true });
  return createHash('sha256').update(bytes).digest('hex');
}

/** Writes the manifest, last: a folder without it is no backup. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const sum = writeBytes(folder, MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
  writeBytes(folder, CHECKSUM, `${sum}  ${MANIFEST}\n`);
}

/** Whether a folder holds a complete backup. */
export const holdsBackup = (folder: string): boolean => existsSync(join(folder, MANIFEST));

/** Reads the manifest. Throws one sentence if a byte of it has changed. */
export function readManifest(folder: string): Manifest {
  if (!holdsBackup(folder))
    throw new Error(`${folder} holds no complete backup: ${MANIFEST} is missing`);
  const text = readFileSync(join(folder, MANIFEST));
  const sum = createHash('sha256').update(text).digest('hex');
  const noted = existsSync(join(folder, CHECKSUM)) && readFileSync(join(folder, CHECKSUM), 'utf8');
  if (noted !== `${sum}  ${MANIFEST}\n`) throw damaged(MANIFEST);
  const parsed = Manifest.safeParse(JSON.parse(text.toString()));
  if (!parsed.success) throw new Error('The backup has a format that this release does not know');
  return parsed.data;
}

/** Reads the manifest and every file. Throws one sentence if a byte of them has changed. */
export async function checkFolder(folder: string): Promise<Manifest> {
  const manifest = readManifest(folder);
  for (const [file, expected] of Object.entries(manifest.files))
    if ((await sumOf(join(folder, file))) !== expected) throw damaged(file);
  return manifest;
}

const damaged = (file: string) =>
  new Error(`The backup is damaged: ${file} is not as it was written`);

async function sumOf(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
