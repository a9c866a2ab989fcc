import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { parseStrictJson } from '../../platform/http/strict-json.ts';
import type { CheckableFixture, Observed } from './fixture-check.ts';

/** Maximum ledger size in bytes. A larger ledger is not read: its outcomes count as unknown. */
const MAX_LEDGER = 16 * 1024 * 1024;

const LedgerLine = z.object({
  operation_id: z.string().min(1),
  outcome: z.enum(['done', 'failed', 'unknown']),
});

/**
 * Reads the files of each case from its folder below `root`. Throws if `root` is not a folder or a
 * file cannot be read.
 */
export async function observeFixture(
  root: string,
  fixture: CheckableFixture,
  ledgerPath: string,
): Promise<Map<string, Observed>> {
  const real = await realpath(root);
  if (!(await stat(real)).isDirectory()) throw new Error(`${root} is not a folder`);
  const observed = new Map<string, Observed>();
  for (const { name, completion_evidence_path: evidencePath } of fixture.cases) {
    const remarks: string[] = [];
    if (!(await isFolder(join(real, name)))) remarks.push(`${name}: there is no such folder`);
    const at = (path: string) => ({ root: real, path: `${name}/${path}`, remarks });
    observed.set(name, {
      artifact: await observeArtifact(at(fixture.artifact.path), fixture.artifact.bytes),
      unknownOutcome: await holdsUnknown(at(ledgerPath)),
      evidence: evidencePath !== undefined && (await isThere(at(evidencePath))),
      remarks,
    });
  }
  return observed;
}

async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

interface Spot {
  root: string;
  path: string;
  remarks: string[];
}

async function observeArtifact(spot: Spot, bytes: number): Promise<Observed['artifact']> {
  const look = await lookAt(spot, async (handle, size) => {
    // A different size is enough to tell; skip the read, since the file may be large.
    if (size !== bytes) return { bytes: size, sha256: null };
    const digest = createHash('sha256');
    let read = 0;
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      digest.update(chunk);
      read += chunk.length;
    }
    return { bytes: read, sha256: digest.digest('hex') };
  });
  return look.is === 'seen' ? look.seen : null;
}

/**
 * A missing ledger lists no unknown outcome. A ledger that cannot be read counts as one that does,
 * because its contents could be anything.
 */
async function holdsUnknown(spot: Spot): Promise<boolean> {
  const look = await lookAt(spot, async (handle, size) => {
    if (size <= MAX_LEDGER) return readLedger(spot, await handle.readFile());
    spot.remarks.push(`${spot.path}: larger than ${MAX_LEDGER} bytes, counted as unknown`);
    return true;
  });
  return look.is === 'seen' ? look.seen : look.is === 'refused';
}

function readLedger({ path, remarks }: Spot, bytes: Buffer): boolean {
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    line += 1;
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const outcome = outcomeOf(bytes.subarray(start, end));
    if (outcome === 'malformed')
      remarks.push(`${path}: line ${line} cannot be read, counted as unknown`);
    if (outcome === 'malformed' || outcome === 'unknown') return true;
    start = end + 1;
  }
  return false;
}

function outcomeOf(line: Uint8Array): 'done' | 'failed' | 'unknown' | 'malformed' | 'blank' {
  if (line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) return 'blank';
  try {
    return LedgerLine.parse(parseStrictJson(line)).outcome;
  } catch {
    return 'malformed';
  }
}

async function isThere(spot: Spot): Promise<boolean> {
  return (await lookAt(spot, async () => true, { folders: true })).is === 'seen';
}

/** `refused`: the path exists but is not read, for example because it is a link. */
type Look<Seen> = { is: 'absent' } | { is: 'refused' } | { is: 'seen'; seen: Seen };

const NOT_FOUND_CODES = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

/**
 * Opens a regular file (or, with `folders`, a folder) below `root` and reads it. Follows no link in
 * any part of the path, so nothing outside `root` can be reached.
 */
async function lookAt<Seen>(
  { root, path, remarks }: Spot,
  read: (handle: FileHandle, size: number) => Promise<Seen>,
  { folders = false } = {},
): Promise<Look<Seen>> {
  const full = resolve(root, path);
  const refused = (why: string): Look<Seen> => {
    remarks.push(`${path}: ${why}`);
    return { is: 'refused' };
  };
  let handle: FileHandle | undefined;
  try {
    if (await leadsThroughLink(root, full)) return refused('a link, which is not followed');
    // O_NONBLOCK: opening a named pipe that has no writer must not block.
    handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const [opened, standing] = await Promise.all([handle.stat(), lstat(full)]);
    // Check again after opening, in case a folder was replaced by a link meanwhile.
    const moved = opened.ino !== standing.ino || opened.dev !== standing.dev;
    if (moved || (await leadsThroughLink(root, full))) return refused('changed while it was read');
    if (!opened.isFile() && !(folders && opened.isDirectory())) return refused('not a file');
    return { is: 'seen', seen: await read(handle, opened.size) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') return refused('a link, which is not followed');
    if (code === 'ENXIO') return refused('not a file');
    if (code !== undefined && NOT_FOUND_CODES.includes(code)) return { is: 'absent' };
    throw error;
  } finally {
    await handle?.close();
  }
}

async function leadsThroughLink(root: string, full: string): Promise<boolean> {
  let path = root;
  for (const name of relative(root, full).split(sep)) {
    path = join(path, name);
    if ((await lstat(path)).isSymbolicLink()) return true;
  }
  return false;
}
