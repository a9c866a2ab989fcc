import { HASH_BYTES } from './merkle.ts';
import { fromBase64 } from './note.ts';

// Checkpoints of C2SP tlog-checkpoint: https://c2sp.org/tlog-checkpoint

/** What a checkpoint says: the first `size` leaves of the log `origin` have this root. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Buffer;
  /** Further lines, which verifiers ignore. */
  extensions: readonly string[];
}

/** The text of a checkpoint, to be signed as a note. */
export const formatCheckpoint = ({ origin, size, root, extensions }: Checkpoint): string =>
  [origin, size, root.toString('base64'), ...extensions].map((line) => `${line}\n`).join('');

/** Reads the text of a checkpoint; undefined if it is malformed. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  if (!text.endsWith('\n')) return undefined;
  const [origin = '', size = '', hash = '', ...extensions] = text.slice(0, -1).split('\n');
  const root = fromBase64(hash);
  const isWellFormed =
    origin !== '' &&
    /^(0|[1-9]\d{0,15})$/.test(size) &&
    Number.isSafeInteger(Number(size)) &&
    root?.length === HASH_BYTES &&
    extensions.every((line) => line !== '');
  return isWellFormed && root ? { origin, size: Number(size), root, extensions } : undefined;
}
