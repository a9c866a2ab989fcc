import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Keeper, Session } from './bearer.ts';
import { type Identity, newIdentity } from './identity.ts';
import type { Reset } from './updates.ts';
import type { UpdateEvent } from './wire.ts';

interface SavedPage {
  cursor: string;
  events: readonly UpdateEvent[];
}

/**
 * Stores the state of an agent in a folder: its identity, credential and events. Survives crashes.
 */
export function createFileStore(path: string) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const record = join(path, 'events.jsonl');

  function readJson<Value>(name: string): Value | undefined {
    const file = join(path, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Value) : undefined;
  }

  const writeJson = (name: string, value: unknown) =>
    replaceFile(join(path, name), JSON.stringify(value));

  /** Reads the saved pages. A truncated last line is removed; the service sends that page again. */
  function pages(): SavedPage[] {
    if (!existsSync(record)) return [];
    const text = readFileSync(record, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(record, Buffer.byteLength(whole));
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SavedPage);
  }

  /** Returns the identity in the folder, which the first call creates with this handle. */
  function identity(handle: string): Identity {
    const known = readJson<Identity>('identity.json');
    if (known) return known;
    const made = newIdentity(handle);
    writeJson('identity.json', made);
    return made;
  }

  const keeper: Keeper = {
    load: () => readJson<Session>('session.json'),
    save: (session) => writeJson('session.json', session),
  };

  return {
    identity,
    keeper,
    pages,
    /** Removes the events after `keptThrough`, and saves the cursor after it, in one step. */
    reset({ keptThrough, cursor }: Reset): void {
      const kept = pages().map((page) => ({
        ...page,
        events: page.events.filter(({ sequence }) => sequence <= keptThrough),
      }));
      replaceFile(record, [...kept, { cursor, events: [] }].map(toLine).join(''));
    },
    /** Appends a page with the cursor after it, as one line. */
    savePage: (events: readonly UpdateEvent[], cursor: string) =>
      write(record, 'a', toLine({ cursor, events })),
  };
}

const toLine = (page: SavedPage): string => `${JSON.stringify(page)}\n`;

/** Replaces a file as a whole, also when the process is killed. */
export function replaceFile(file: string, text: string): void {
  // Two processes may replace it, so each writes to a separate file.
  const next = `${file}.${process.pid}.new`;
  try {
    write(next, 'w', text);
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  }
}

/** Writes all of a text, or nothing: a full disk may take a part of it. */
function write(file: string, flags: 'w' | 'a', text: string): void {
  const handle = openSync(file, flags, 0o600);
  const before = fstatSync(handle).size;
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } catch (error) {
    ftruncateSync(handle, before);
    throw error;
  } finally {
    closeSync(handle);
  }
}
