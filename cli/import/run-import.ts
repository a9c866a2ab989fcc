import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportSource } from '../../domain/guestbook/words.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import { query } from '../../platform/postgres/query.ts';
import { asJob } from '../../platform/postgres/request-deadline.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { sql } from '../../platform/sql.ts';
import { findImported } from '../../projections/guestbook/imported-notes.ts';
import type { Core } from '../../services/compose.ts';
import {
  type Import,
  type ImportedComment,
  type ImportResult,
  importCommand,
} from '../../services/imports/import-notes.ts';
import { type Collected, type CollectOptions, collectComments } from './collect.ts';
import type { Report } from './report.ts';
import { createSpool, type Spool } from './spool.ts';
import { foldThreads, type Place } from './threads.ts';

/** Notes in one transaction, which is short beside those of the service. */
const BATCH = 100;

export interface ImportOptions extends Omit<CollectOptions, 'now'> {
  experience: Import['experience'];
  reviewedBy: string | null;
  dryRun: boolean;
}

type Placed = [Collected, Place<Collected>];

/**
 * Imports a file in batches. The id of the import is made of what is imported, so that a run that was
 * interrupted continues under its id. Throws `UnreadableExport` before it has written anything, and
 * `NotADecider` if the reviewer may not approve notes.
 */
export async function runImport(
  core: Pick<Core, 'store' | 'pool'>,
  options: ImportOptions,
  report: Report,
): Promise<string> {
  const importId = await importIdOf(options);
  const spool = createSpool();
  try {
    const [clock] = await query(core.pool, sql<{ now: Date }>`SELECT clock_timestamp() AS now`);
    const now = clock?.now.getTime() ?? 0;
    const comments = await collectComments({ ...options, now }, spool, report);
    const placed = inOrder(foldThreads(comments));
    for (const [{ label }, { moved }] of placed) if (moved) report.moved(label, moved);
    const write = options.dryRun
      ? (batch: readonly Placed[]) => preview(core, batch, options)
      : (batch: readonly Placed[]) => commit(core, importId, batch, options, spool);
    for (let from = 0; from < placed.length; from += BATCH) {
      const batch = placed.slice(from, from + BATCH);
      const started = performance.now();
      for (const [index, result] of (await write(batch)).entries()) {
        const label = batch[index]?.[0].label ?? '';
        if (result === 'parent_gone') report.refused(label, 'what it replies to is not shown here');
        else report.result(result);
      }
      // Leaves the service at least half of the time.
      if (!options.dryRun) await sleep(performance.now() - started);
    }
    return importId;
  } finally {
    spool.close();
  }
}

/** The reviewer is no active member of staff whose role may approve notes. */
export class NotADecider extends Error {
  override readonly name = 'NotADecider';
}

async function commit(
  { store }: Pick<Core, 'store'>,
  id: string,
  batch: readonly Placed[],
  { source, experience, reviewedBy }: ImportOptions,
  spool: Spool,
): Promise<ImportResult[]> {
  const comments = batch.map(
    ([comment, { root }]): ImportedComment => ({
      sourceKey: comment.sourceKey,
      parentKey: root?.sourceKey ?? null,
      writtenAt: new Date(comment.writtenAt),
      published: comment.published,
      ...(spool.get(comment.spooled as NonNullable<Collected['spooled']>) as {
        name: string;
        message: string;
      }),
    }),
  );
  const command = importCommand({ id, source, experience, reviewedBy }, comments);
  const results = await asJob(() => handle(store, { type: 'operator' }, command));
  if (isRefusal(results)) throw new NotADecider('the reviewer may not approve notes any more');
  return results;
}

/** What an import would do; what a parent that is here already allows is only decided then. */
async function preview(
  { pool }: Pick<Core, 'pool'>,
  batch: readonly Placed[],
  { reviewedBy }: ImportOptions,
): Promise<ImportResult[]> {
  const keys = batch.map(([{ sourceKey }]) => sourceKey);
  const known = new Set(
    (await query(pool, findImported(keys))).map(({ source_key }) => source_key),
  );
  return batch.map(([comment, { root }]) => {
    if (known.has(comment.sourceKey)) return 'known';
    const approved = reviewedBy !== null && comment.published && root?.published !== false;
    return approved ? 'approved' : 'pending';
  });
}

/** In the order in which they were written, and each comment before its replies. */
function inOrder(places: Map<Collected, Place<Collected>>): Placed[] {
  const at = ([{ writtenAt }, { root }]: Placed) => Math.max(writtenAt, root?.writtenAt ?? 0);
  const depth = ([, { root }]: Placed) => (root === null ? 0 : 1);
  return [...places].sort((one, other) => at(one) - at(other) || depth(one) - depth(other));
}

/** A UUID that the same file, source, site and page always give. */
async function importIdOf({ source, site, thread, path }: ImportOptions): Promise<string> {
  const sum = createHash('sha256');
  sum.update(JSON.stringify([source satisfies ImportSource, site, thread ?? null]));
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  const bytes = sum.digest();
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-');
}
