import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { currentEpoch } from '../../platform/eventstore/log-epochs.ts';
import { settledPosition } from '../../platform/eventstore/subscription.ts';
import { fault } from '../../platform/fault.ts';
import { rollBack } from '../../platform/postgres/connection.ts';
import { pipeline } from '../../platform/postgres/pipeline.ts';
import { whileCommitting, withClient } from '../../platform/postgres/pool.ts';
import { query } from '../../platform/postgres/query.ts';
import { deadline } from '../../platform/postgres/request-deadline.ts';
import { sql } from '../../platform/sql.ts';
import {
  type Checkpoint,
  formatCheckpoint,
  parseCheckpoint,
} from '../../platform/tlog/checkpoint.ts';
import { rootOf } from '../../platform/tlog/merkle.ts';
import {
  isKeyName,
  openNote,
  parseVerifier,
  signingKey,
  signNote,
  verifierText,
} from '../../platform/tlog/note.ts';
import { edgeTiles } from '../../platform/tlog/tiles.ts';
import { createTreeEdge } from '../../platform/tlog/tree-edge.ts';
import { hashLeaf, openLeaf } from './leaf.ts';
import {
  batchState,
  countSealed,
  emptiedCheckpoint,
  eventsToSeal,
  type LeafRow,
  leavesBetween,
  lockSealing,
  newestTree,
  nextSealable,
  noteRefusal,
  storedNodes,
  storeLeaves,
  storeTiles,
  storeTree,
  TileIncomplete,
  type TreeRow,
  tilesAt,
} from './tree-store.ts';

export interface SealDeps {
  config: Pick<Config, 'baseUrl' | 'sealKey'>;
  pool: pg.Pool;
  logWatch: { isLost: () => boolean };
}

/** Positions in a transaction. Erasures wait while one is written, for tens of milliseconds. */
const BATCH_POSITIONS = 1000;
/** How far back each run looks for an event that appeared, or is gone, behind what is sealed. */
const LOOKBACK_POSITIONS = 1000;
/** How long a run goes on with a backlog, in milliseconds; the next run continues. */
const RUN_MS = 45_000;

/** The tree cannot be extended as it is, so that nothing is signed. */
class SealRefused extends Error {}

type Tree = Omit<TreeRow, 'signed_at' | 'refusal' | 'checkpoint' | 'missing_witnesses'> & {
  checkpoint: string | null;
};

type Remembered = Pick<Checkpoint, 'size' | 'root'> & { epoch: number };

/** What this process has signed or seen last: a tree that is smaller or has another root is refused. */
const remembered = new WeakMap<pg.Pool, Remembered>();

/** Runs may overlap, and end in any order. */
function remember(pool: pg.Pool, seen: Remembered): void {
  const known = remembered.get(pool);
  if (!known || known.epoch !== seen.epoch || known.size < seen.size) remembered.set(pool, seen);
}

/**
 * Seals the events that were committed since the last run, in the order of their positions, up to one
 * before which no event can appear any more. Resolves to how many; `alert` says why nothing was signed, and
 * `postponed` that another transaction stayed open, so that the next run has to do the work.
 */
export async function sealCommitted(
  deps: SealDeps,
): Promise<{ sealed: number; alert?: string | undefined; postponed?: true }> {
  const keys = signingKeys(deps.config);
  if (keys.length === 0 || deps.logWatch.isLost()) return { sealed: 0 };
  const started = performance.now();
  let sealed = 0;
  let epoch = 0;
  try {
    const end = await settledPosition(deps.pool);
    if (end === undefined) return { sealed, postponed: true };
    for (;;) {
      // Before the tree is read, because another run may extend it at any time.
      const known = remembered.get(deps.pool);
      const tree = await findTree(deps);
      ({ epoch } = tree);
      const edge = await openEdge(deps.pool, tree, known);
      const count = await sealBatch(deps, keys, { tree, edge }, end);
      if (count === 'finished') break;
      sealed += count;
      if (performance.now() - started > RUN_MS) break;
    }
    await query(deps.pool, noteRefusal(epoch, null));
    return { sealed };
  } catch (error) {
    if (!(error instanceof SealRefused)) throw error;
    await query(deps.pool, noteRefusal(epoch, error.message));
    return { sealed, alert: `nothing is signed: ${error.message}` };
  }
}

/** The tree of the present epoch, which begins empty and names the tree before. */
async function findTree({ pool, config }: SealDeps): Promise<Tree> {
  const [current] = await query(pool, currentEpoch());
  const epoch = current?.epoch ?? 1;
  const [newest] = await query(pool, newestTree());
  if (newest?.epoch === epoch) return newest;
  const origin = `${new URL(config.baseUrl).host}/log/${epoch}`;
  if (!isKeyName(origin)) throw new Error('the address of the service cannot name a key');
  const { checkpoint } = newest ?? (await query(pool, emptiedCheckpoint()))[0] ?? {};
  const last = checkpoint && parseCheckpoint(checkpoint.split('\n\n')[0]?.concat('\n') ?? '');
  const previous = last
    ? `previous ${last.origin} ${last.size} ${last.root.toString('base64')}`
    : null;
  return { epoch, origin, verifiers: [], previous, size: 0, position: 0, checkpoint: null };
}

/** Seals the next events in one transaction; resolves to how many, or that none is left up to `end`. */
async function sealBatch(
  deps: SealDeps,
  keys: readonly KeyObject[],
  { tree, edge }: { tree: Tree; edge: ReturnType<typeof createTreeEdge> },
  end: number,
): Promise<number | 'finished'> {
  const { pool } = deps;
  const signers = keys.map((key) => verifierText(tree.origin, key));
  const isSignedByAll = signers.every((text) => tree.verifiers.includes(text));
  const [next] = await query(pool, nextSealable(tree.position, end));
  const from = (next?.position ?? end + 1) - 1;
  const to = Math.min(from + BATCH_POSITIONS, end);
  const found = from < to ? await query(pool, eventsToSeal(from, to)) : [];
  const events = fault('skip-sealed') ? found.filter((_, index) => index !== 1) : found;
  if (events.length === 0 && (isSignedByAll || tree.checkpoint === null)) return 'finished';

  const earlier = new Map(
    (tree.epoch > 1 && events.length > 0 ? await query(pool, leavesBetween(from, to)) : []).map(
      (row) => [row.position, row] as const,
    ),
  );
  const leaves = events.map(
    (event, index): LeafRow => ({
      position: event.position,
      epoch: tree.epoch,
      leaf: tree.size + index,
      ...openLeaf(event, earlier.get(event.position)),
    }),
  );
  edge.append(events.map((event, index) => hashLeaf(event, leaves[index] as LeafRow)));
  const position = events.at(-1)?.position ?? tree.position;
  const root = edge.root();
  const text = formatCheckpoint({
    origin: tree.origin,
    size: edge.size(),
    root,
    extensions: tree.previous ? [tree.previous] : [],
  });
  const written = {
    epoch: tree.epoch,
    origin: tree.origin,
    verifiers: [...new Set([...signers, ...tree.verifiers])],
    previous: tree.previous,
    size: edge.size(),
    position,
    checkpoint: signNote(text, tree.origin, keys),
  };
  const words = found.filter(({ personal }) => personal !== null).length;

  const stored = await withClient(pool, deadline(), (client) =>
    store(client).catch(async (error: unknown) => {
      await rollBack(client);
      throw error;
    }),
  );
  // Another process has sealed these events, or words were erased meanwhile: the caller reads again.
  if (!stored) return 0;
  remember(pool, { epoch: tree.epoch, size: edge.size(), root });
  return events.length;

  async function store(client: pg.PoolClient): Promise<boolean> {
    const results = await pipeline(client, [
      sql`BEGIN`,
      lockSealing(),
      batchState(tree.epoch, from, to),
    ]);
    const [state] = results[2] as { epoch: number; checkpoint: string | null; words: number }[];
    const isCurrent =
      state?.epoch === tree.epoch && state.checkpoint === tree.checkpoint && state.words === words;
    if (!isCurrent) {
      await client.query('ROLLBACK');
      return false;
    }
    const statements = [
      ...(fault('early-checkpoint') ? [storeTree(written), sql`COMMIT`, sql`BEGIN`] : []),
      storeLeaves(leaves),
      storeTiles(tree.epoch, edge.takeChanged()),
      storeTree(written),
      sql`COMMIT`,
    ];
    await whileCommitting(client, () => pipeline(client, statements));
    return true;
  }
}

/** The end of the tree, to append to. Throws `SealRefused` if it is not what was signed last. */
async function openEdge(pool: pg.Pool, tree: Tree, known: Remembered | undefined) {
  const isKnown = known?.epoch === tree.epoch;
  if (tree.checkpoint === null) {
    if (isKnown) throw new SealRefused('the tree that this process has signed is gone');
    return createTreeEdge(0, []);
  }
  const verifiers = tree.verifiers.flatMap((text) => parseVerifier(text) ?? []);
  const text = openNote(tree.checkpoint, verifiers);
  const signed = text === undefined ? undefined : parseCheckpoint(text);
  if (!signed || signed.origin !== tree.origin || signed.size !== tree.size)
    throw new SealRefused('the last checkpoint is not one that was signed');
  const { size, root } = signed;
  if (isKnown && size < known.size)
    throw new SealRefused(
      `the tree has ${size} leaves, fewer than the ${known.size} signed before`,
    );
  const edge = await readEdge(pool, tree.epoch, size);
  if (!edge.root().equals(root))
    throw new SealRefused('the stored tree is not the one of the last checkpoint');
  if (isKnown && !(await rootAt(pool, tree, known.size)).equals(known.root))
    throw new SealRefused(`the first ${known.size} leaves are not those that were signed before`);
  const after = Math.max(0, tree.position - LOOKBACK_POSITIONS);
  const [counted] = await query(pool, countSealed(tree.epoch, after, tree.position));
  if (counted?.events !== counted?.leaves)
    throw new SealRefused(
      `after position ${after} there are ${counted?.events} events, but ${counted?.leaves} were sealed`,
    );
  remember(pool, { epoch: tree.epoch, size, root });
  return edge;
}

async function readEdge(pool: pg.Pool, epoch: number, size: number) {
  try {
    return createTreeEdge(size, await query(pool, tilesAt(epoch, edgeTiles(size))));
  } catch (error) {
    if (!/^tile /.test((error as Error).message)) throw error;
    throw new SealRefused((error as Error).message);
  }
}

/** The root of the first `size` leaves of a stored tree. */
async function rootAt(pool: pg.Pool, { epoch, size: whole }: Tree, size: number): Promise<Buffer> {
  try {
    return await rootOf(storedNodes(pool, epoch, whole), size);
  } catch (error) {
    if (!(error instanceof TileIncomplete)) throw error;
    throw new SealRefused(error.message);
  }
}

/** The keys of `SEAL_KEY`, which all sign each checkpoint. Empty: nothing is sealed. */
export const signingKeys = ({ sealKey = [] }: Pick<Config, 'sealKey'>): KeyObject[] =>
  sealKey.map((seed) => signingKey(seed));
