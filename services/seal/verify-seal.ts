import type pg from 'pg';
import type { Sql } from '../../platform/sql.ts';
import { parseCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { HASH_BYTES } from '../../platform/tlog/merkle.ts';
import { openNote, parseVerifier } from '../../platform/tlog/note.ts';
import { hashAt } from '../../platform/tlog/tiles.ts';
import { createTreeEdge, type Tile } from '../../platform/tlog/tree-edge.ts';
import { hashLeaf, type SealedEvent, wordsFault } from './leaf.ts';
import {
  eventsToSeal,
  type LeafRow,
  leavesBetween,
  newestTree,
  nextSealed,
  tilesAt,
} from './tree-store.ts';

const RANGE_POSITIONS = 5000;

/** What a comparison of the log with its tree has found. */
export interface SealReport {
  origin: string;
  /** Leaves of the tree. */
  size: number;
  /** The last position in the tree; what is later is not sealed yet. */
  position: number;
  /** The first difference; undefined if log and tree are equal. */
  fault?: string;
}

/**
 * Compares the log with its sealed tree, in one snapshot: every event that was sealed must be there, unchanged
 * but for words that were erased, and no other one between them. Undefined if nothing was sealed.
 */
export async function verifySeal(client: pg.ClientBase): Promise<SealReport | undefined> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    return await compare(async <Row>({ text, values }: Sql<Row>) => {
      const { rows } = await client.query(text, values);
      return rows as Row[];
    });
  } finally {
    await client.query('ROLLBACK');
  }
}

async function compare(
  ask: <Row>(statement: Sql<Row>) => Promise<Row[]>,
): Promise<SealReport | undefined> {
  const [tree] = await ask(newestTree());
  if (!tree) return undefined;
  const { epoch, origin } = tree;
  const report = { origin, size: tree.size, position: Number(tree.position) };
  const keys = tree.verifiers.flatMap((text) => parseVerifier(text) ?? []);
  const text = openNote(tree.checkpoint, keys);
  const signed = text === undefined ? undefined : parseCheckpoint(text);
  if (!signed || signed.origin !== origin || signed.size !== tree.size)
    return { ...report, fault: 'the last checkpoint is not one that was signed' };

  const edge = createTreeEdge(0, []);
  const stored = new Map<number, Buffer>();
  const storedHash = async (leaf: number): Promise<Buffer | undefined> => {
    const index = Math.floor(leaf / 256);
    if (!stored.has(index)) {
      stored.clear();
      const [tile] = await ask(tilesAt(epoch, [{ level: 0, index, width: 256 }]));
      stored.set(index, tile?.hashes ?? Buffer.alloc(0));
    }
    const hash = hashAt(stored.get(index) as Buffer, leaf % 256);
    return hash.length === HASH_BYTES ? hash : undefined;
  };

  for (let at = 0; at < tree.position; ) {
    const [next] = await ask(nextSealed(epoch, at, tree.position));
    if (!next || next.position === null) break;
    const to = Math.min(next.position - 1 + RANGE_POSITIONS, tree.position);
    const events = await ask(eventsToSeal(at, to));
    const leaves = (await ask(leavesBetween(at, to))).filter((leaf) => leaf.epoch === epoch);
    const fault = await compareRange(events, leaves, edge, storedHash);
    if (fault) return { ...report, fault };
    for (const tile of edge.takeChanged())
      if (tile.level > 0 && !(await isStored(tile)))
        return { ...report, fault: `the tile ${tile.level}/${tile.index} is not that of the log` };
    at = to;
  }
  if (edge.size() !== signed.size || !edge.root().equals(signed.root))
    return {
      ...report,
      fault: 'the log has another tree than the one whose checkpoint was signed',
    };
  return report;

  async function isStored({ level, index, hashes }: Tile): Promise<boolean> {
    const [tile] = await ask(tilesAt(epoch, [{ level, index, width: 256 }]));
    return tile?.hashes.subarray(0, hashes.length).equals(hashes) ?? false;
  }
}

/** The first difference between the events of a range and its leaves, which are appended to `edge`. */
async function compareRange(
  events: readonly SealedEvent[],
  leaves: readonly LeafRow[],
  edge: ReturnType<typeof createTreeEdge>,
  storedHash: (leaf: number) => Promise<Buffer | undefined>,
): Promise<string | undefined> {
  const eventsByPosition = new Map(events.map((event) => [event.position, event]));
  const leavesByPosition = new Map(leaves.map((leaf) => [leaf.position, leaf]));
  const positions = new Set([...eventsByPosition.keys(), ...leavesByPosition.keys()]);
  for (const position of [...positions].sort((one, other) => one - other)) {
    const place = `position ${position}`;
    const event = eventsByPosition.get(position);
    const leaf = leavesByPosition.get(position);
    if (!event) return `${place}: the event that was sealed is gone`;
    if (!leaf) return `${place}: the event was not sealed, although later ones were`;
    if (leaf.leaf !== edge.size()) return `${place}: it is leaf ${edge.size()}, not ${leaf.leaf}`;
    const words = wordsFault(event, leaf);
    if (words) return `${place} (${event.type}): ${words}`;
    const hash = hashLeaf(event, leaf);
    const sealed = await storedHash(leaf.leaf);
    if (!sealed?.equals(hash))
      return `${place} (${event.type}): the event is not the one that was sealed`;
    edge.append([hash]);
  }
  return undefined;
}
