import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { ArgumentError, asksForHelp, parseArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { type Checkpoint, parseCheckpoint } from '../platform/tlog/checkpoint.ts';
import { consistencyProof, isConsistent, rootOf } from '../platform/tlog/merkle.ts';
import {
  openNote,
  parseVerifier,
  parseWitnessKey,
  type VerifierKey,
} from '../platform/tlog/note.ts';
import { HttpLog, LogFault } from './verify-log-http.ts';
import { type ProvenPage, verifyProofs } from './verify-proofs.ts';

const USAGE = `Usage:
  npm run verify-log -- URL [--key KEY] [--state FILE] [--proof FILE] [--witness KEY]...
  npm run verify-log -- --key KEY --proof FILE [--witness KEY]...

Verifies the sealed log of a service from outside, by HTTP alone: the signature of its checkpoint, the stored
tree, and that it continues the checkpoint that was seen last. Without URL it verifies proofs without the service,
and so not that the service still shows the tree which they are of.

URL           the address of the service, such as https://example.org
--key KEY     the key that must have signed, as name+id+key. Without it, the key in FILE; if there is none, the
              one that the service names, which is then shown and kept
--state FILE  the checkpoint that was seen last; made if it is missing, and written after each success
--proof FILE  proofs of events, as GET /log/proofs/TYPE/ID or GET /api/v1/me/proofs answered, or as
              npm run moderator -- audit --proofs prints; what they prove is shown
--witness KEY the key of a witness that must have co-signed the checkpoint, as name+id+key; several are given as
              --witness KEY --witness KEY

Exit status:
  0  verified
  1  not verified: the answers are missing, malformed or contradict each other
  2  wrong arguments
  3  a fork: the checkpoints that are shown, both signed, contradict each other
`;

export interface Verdict {
  status: 0 | 1 | 2 | 3;
  out: string;
  err: string;
}

interface State {
  key: string;
  checkpoint: string;
}

/** Runs the whole command; the caller prints the verdict and sets the exit status. */
export async function verifyLog(args: string[]): Promise<Verdict> {
  if (asksForHelp(args)) return { status: 0, out: USAGE, err: '' };
  let given: ReturnType<typeof readArguments>;
  try {
    given = readArguments(args);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    return { status: 2, out: '', err: `${error.message}\n\n${USAGE}` };
  }
  try {
    return await verify(given);
  } catch (error) {
    return { status: 1, out: '', err: `Not verified: ${failureLine(error)}` };
  }
}

function readArguments(args: string[]) {
  const options = {
    key: { type: 'string' },
    state: { type: 'string' },
    proof: { type: 'string' },
    witness: { type: 'string', multiple: true },
  } as const;
  const { positionals, values: given } = parseArguments(args, options, [0, 1]);
  const values = { ...given, witnesses: (given.witness ?? []).map(readWitness) };
  const [url] = positionals;
  if (values.key !== undefined && !parseVerifier(values.key))
    throw new ArgumentError('KEY must have the form name+id+key.');
  if (url === undefined) return { ...values, url, ...offline(values) };
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    throw new ArgumentError('URL must be an address such as https://example.org.');
  return { ...values, url: url.replace(/\/+$/, '') };
}

function readWitness(text: string): VerifierKey {
  const key = parseWitnessKey(text);
  if (!key) throw new ArgumentError('The KEY of a witness must have the form name+id+key.');
  return key;
}

/** What is needed to verify proofs without a service. */
function offline({ key, state, proof }: { key?: string; state?: string; proof?: string }) {
  if (key === undefined || proof === undefined)
    throw new ArgumentError('Without URL, --key and --proof are required.');
  if (state !== undefined) throw new ArgumentError('--state needs the URL of a log.');
  return { key, proof };
}

async function verify(given: ReturnType<typeof readArguments>): Promise<Verdict> {
  if (given.url === undefined) return verifyOffline(given);
  const { url, key, state: file, proof, witnesses } = given;
  const known = file === undefined ? undefined : readState(file);
  const log = new HttpLog(url);
  const text = key ?? known?.key ?? (await log.key());
  const verifier = parseVerifier(text);
  if (!verifier) throw new LogFault('the key is malformed');
  const note = await log.checkpoint();
  const seen = open(note, verifier, witnesses);
  const root = await rootOf(log.nodes(seen.size), seen.size);
  if (!root.equals(seen.root))
    throw new LogFault('the tiles do not have the root of the checkpoint');
  const lines = [`Verified ${seen.size} events of ${seen.origin}, signed by ${text}`];
  if (witnesses.length > 0)
    lines.push(`Co-signed by ${witnesses.map(({ name }) => name).join(', ')}`);

  for (const proven of proof === undefined ? [] : readProofs(proof, verifier)) {
    const contradiction = await contradict(log, proven.checkpoint, seen);
    if (contradiction) return fork(contradiction, proven.note, note);
    lines.push(...proven.lines);
  }
  if (known) {
    const before = open(known.checkpoint, verifier);
    const contradiction = await contradict(log, before, seen);
    if (contradiction) return fork(contradiction, known.checkpoint, note);
    lines.push(`It continues the checkpoint of ${before.size} events that was seen last`);
  } else if (key === undefined)
    lines.push('The service named this key itself: compare it elsewhere');
  if (file !== undefined) writeState(file, { key: text, checkpoint: note });
  return verified(lines);
}

/** Verifies proofs without the log. Two trees of one size are compared; others need the tiles of the log. */
function verifyOffline({
  key,
  proof,
  witnesses,
}: {
  key: string;
  proof: string;
  witnesses: readonly VerifierKey[];
}): Verdict {
  const verifier = parseVerifier(key);
  if (!verifier) throw new LogFault('the key is malformed');
  const pages = readProofs(proof, verifier, witnesses);
  const ofSize = new Map<number, ProvenPage>();
  for (const page of pages) {
    const { size, root } = page.checkpoint;
    const before = ofSize.get(size);
    if (before && !before.checkpoint.root.equals(root))
      return fork(`two trees of ${size} events differ`, before.note, page.note);
    ofSize.set(size, page);
  }
  const events = pages.reduce((sum, { lines }) => sum + lines.length, 0);
  const trees = [...ofSize.keys()].sort((one, other) => one - other).join(', ');
  return verified([
    ...pages.flatMap(({ lines }) => lines),
    `Verified ${events} proofs in trees of ${trees} events, signed by ${key}. The log was not asked`,
  ]);
}

const readProofs = (
  file: string,
  verifier: VerifierKey,
  witnesses: readonly VerifierKey[] = [],
): ProvenPage[] =>
  verifyProofs(readFileSync(file, 'utf8'), (text) => open(text, verifier, witnesses));

const verified = (lines: readonly string[]): Verdict => ({
  status: 0,
  out: lines.map((line) => `${line}\n`).join(''),
  err: '',
});

const fork = (contradiction: string, before: string, seen: string): Verdict => ({
  status: 3,
  out: `${before}\n${seen}`,
  err: `FORK: ${contradiction}. Keep both checkpoints, which are shown: together they prove it\n`,
});

/** Opens a checkpoint that the log has signed, and each of the witnesses. */
function open(
  note: string,
  verifier: VerifierKey,
  witnesses: readonly VerifierKey[] = [],
): Checkpoint {
  const text = openNote(note, [verifier]);
  if (text === undefined)
    throw new LogFault(`the checkpoint is not signed by ${verifier.name}+${verifier.id}`);
  const checkpoint = parseCheckpoint(text);
  if (!checkpoint) throw new LogFault('the checkpoint is malformed');
  // A key of one log says nothing of another.
  if (checkpoint.origin !== verifier.name)
    throw new LogFault(`the checkpoint is of another log: ${JSON.stringify(checkpoint.origin)}`);
  for (const witness of witnesses)
    if (openNote(note, [witness]) === undefined)
      throw new LogFault(`the checkpoint is not co-signed by ${witness.name}+${witness.id}`);
  return checkpoint;
}

/** How two checkpoints that the same key has signed contradict each other; undefined if they do not. */
async function contradict(
  log: HttpLog,
  before: Checkpoint,
  seen: Checkpoint,
): Promise<string | undefined> {
  if (seen.size < before.size)
    return `the log had ${before.size} events, and now shows ${seen.size} of them`;
  const proof = await consistencyProof(log.nodes(seen.size), before.size, seen.size);
  return isConsistent(before, seen, proof)
    ? undefined
    : `the first ${before.size} events are not those that were seen last`;
}

function readState(file: string): State | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const { key, checkpoint } = JSON.parse(text) as Partial<State>;
  if (typeof key !== 'string' || typeof checkpoint !== 'string')
    throw new Error(`${file} is not a state of this command`);
  return { key, checkpoint };
}

/** Replaces the file at one moment, so that an interrupted run leaves the state before. */
function writeState(file: string, state: State): void {
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`);
  renameSync(draft, file);
}
