import { createHash, type Hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import type { ServerKey } from '../../platform/keys/server-keys.ts';
import { isSealed, openKeys, sealText } from './sealed-keys.ts';
import { createRowSeal, type RowSeal } from './sealed-rows.ts';
import { fileOf } from './tables.ts';

const MANIFEST = 'manifest.json';
const CHECKSUM = 'manifest.sha256';
const SEAL = 'manifest.seal';
export const KEYS_FILE = 'server-keys.sealed';

/**
 * Format 1, of release 0.9.0, had no seal, the rows of format 2 were not encrypted, and format 3 had three salts. A release
 * reads its own format alone, because it restores only backups with its own tables.
 */
export const FORMAT = 4;

const Manifest = z.object({
  format: z.literal(FORMAT),
  /** The salt with which the keys of this backup are derived from the passphrase. */
  salt: z.string().regex(/^[0-9a-f]{32}$/),
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

/** Writes rows into a compressed and encrypted file; returns the SHA-256 of the file. */
export async function writeRows(
  folder: string,
  file: string,
  rows: Readable,
  { seal }: RowSeal,
): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(
    rows,
    createGzip({ level: 1 }),
    seal(file),
    hashing(hash),
    createWriteStream(join(folder, file), { flags: 'wx', mode: 0o600 }),
  );
  return hash.digest('hex');
}

/** Passes bytes on and adds them to a hash. */
export function hashing(hash: Hash) {
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
export function writeManifest(folder: string, manifest: Manifest, passphrase: string): void {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  // A manifest that no release can read, such as one with a position beyond 2^53, is no backup.
  parseManifest(text);
  writeBytes(folder, SEAL, sealText(text, passphrase, Buffer.from(manifest.salt, 'hex')));
  const sum = createHash('sha256').update(text).digest('hex');
  writeBytes(folder, CHECKSUM, `${sum}  ${MANIFEST}\n`);
  writeBytes(folder, MANIFEST, text);
}

/** Whether a folder holds a complete backup. */
export const holdsBackup = (folder: string): boolean => existsSync(join(folder, MANIFEST));

/**
 * Reads the manifest. Throws one sentence if a byte of it has changed. Its checksum needs no passphrase and shows
 * damage, not intent: `checkFolder` also checks the seal.
 */
export const readManifest = (folder: string): Manifest =>
  parseManifest(readIntact(folder).toString());

/** The bytes of the manifest. Throws one sentence if one of them has changed. */
function readIntact(folder: string): Buffer {
  if (!holdsBackup(folder))
    throw new Error(`${folder} holds no complete backup: ${MANIFEST} is missing`);
  const text = readFileSync(join(folder, MANIFEST));
  const sum = createHash('sha256').update(text).digest('hex');
  if (readOr(join(folder, CHECKSUM)) !== `${sum}  ${MANIFEST}\n`) throw damaged(MANIFEST);
  return text;
}

/** Parses a manifest. Throws one sentence that names what is wrong. */
export function parseManifest(text: string): Manifest {
  const read: unknown = JSON.parse(text);
  const { format } = z.looseObject({ format: z.unknown() }).parse(read);
  if (format !== FORMAT)
    throw new Error(
      `The backup has the format ${JSON.stringify(format)}, but this release reads ${FORMAT}: use the release that made it`,
    );
  const parsed = Manifest.safeParse(read);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `${MANIFEST} of the backup is wrong at ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
  );
}

/** A backup whose files are as they were written, by someone who knows the passphrase. */
export interface CheckedBackup {
  manifest: Manifest;
  keys: readonly ServerKey[];
  /** What decrypts the rows. */
  rows: RowSeal;
}

/** Reads the manifest and every file. Throws one sentence if a byte of them has changed. */
export async function checkFolder(folder: string, passphrase: string): Promise<CheckedBackup> {
  for (const [file, expected] of Object.entries(readCompleteManifest(folder).files))
    if ((await sumOf(join(folder, file))) !== expected) throw damaged(file);
  return openBackup(folder, passphrase);
}

/** Reads the manifest. Throws one sentence if it points out of the folder, or a file of it is missing. */
export const readCompleteManifest = (folder: string): Manifest =>
  completeManifest(folder, readIntact(folder));

function completeManifest(folder: string, text: Buffer): Manifest {
  const manifest = parseManifest(text.toString());
  requirePlainNames(manifest);
  const missing = Object.keys(manifest.files).find((file) => !isFile(join(folder, file)));
  if (missing !== undefined) throw damaged(missing);
  return manifest;
}

/** Opens the manifest and the keys with the passphrase; reads no rows. Throws one sentence. */
export function openBackup(folder: string, passphrase: string): CheckedBackup {
  // Read once, so that the manifest that is returned is the one whose seal is checked.
  const text = readIntact(folder);
  const manifest = completeManifest(folder, text);
  const keys = openKeys(readFileSync(join(folder, KEYS_FILE)), passphrase);
  if (!isSealed(text, readOr(join(folder, SEAL)), passphrase))
    throw new Error(
      `The backup was changed: ${MANIFEST} does not fit ${SEAL}, which only the passphrase can write`,
    );
  return { manifest, keys, rows: createRowSeal(passphrase, manifest.salt) };
}

/** Each table has the file of its name, so that a manifest cannot point out of the folder. */
function requirePlainNames({ tables, files }: Manifest): void {
  const expected = new Set([KEYS_FILE, ...tables.map(({ name }) => fileOf(name))]);
  const wrong = [
    ...tables.filter(({ name, file }) => file !== fileOf(name)).map(({ file }) => file),
    ...[...expected].filter((file) => !(file in files) || file !== basename(file)),
    ...Object.keys(files).filter((file) => !expected.has(file)),
  ];
  if (wrong.length > 0)
    throw new Error(`${MANIFEST} of the backup is wrong at files: ${JSON.stringify(wrong[0])}`);
}

export const damaged = (file: string) =>
  new Error(`The backup is damaged: ${file} is not as it was written`);

const readOr = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

/** Whether `path` is a regular file, and no link. */
const isFile = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
