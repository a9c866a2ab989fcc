import type pg from 'pg';
import {
  NOTE_TEXTS,
  noteCommentStream,
  noteStream,
  screeningStream,
} from '../../domain/guestbook/words.ts';
import { end } from '../../domain/membership/member.ts';
import { memberOwner } from '../../domain/owners.ts';
import { readStream } from '../../platform/eventstore/append.ts';
import {
  EVENT_WORDS,
  eraseByOwner,
  eraseEvents,
  eraseStreams,
  type LogPosition,
  type OwnedText,
  ownedTexts,
  type WordsElsewhere,
} from '../../platform/eventstore/erasure.ts';
import { SERVICE_ACTOR } from '../../platform/eventstore/event.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import {
  type Command,
  defineCommand,
  handle,
  NOTHING_TO_DO,
} from '../../platform/eventstore/handle.ts';
import { emptyReceipts, type ReceiptPlace } from '../../platform/eventstore/receipts.ts';
import { dropBudgets } from '../../platform/limits/write-budget.ts';
import { query, runTogether } from '../../platform/postgres/query.ts';
import { eraseTextsIn, rowsWithTexts, type Texts } from '../../projections/erasable-texts.ts';
import {
  type ErasedNote,
  erasedNotes,
  keptNotes,
} from '../../projections/guestbook/notes-of-member.ts';
import { dropEndedVerifiers } from '../../projections/membership/ended-verifiers.ts';
import { membersToErase } from '../../projections/membership/members.ts';
import type { Projection } from '../../projections/projection.ts';
import { dropLeftOver } from '../../projections/rebuild/rebuilt-tables.ts';
import { streamKindsOf } from '../../projections/stream-owners.ts';
import { closeMore } from '../../services/account/delete.ts';
import { filledReceipts } from '../../services/account/receipts.ts';
import { CASE_WORDS, SUBMISSION_WORDS } from '../../services/cases/receipts.ts';
import { dropUses } from '../../services/credentials/last-use.ts';
import { accountClosures, projections } from '../../services/features.ts';
import { memberStreams } from '../../services/membership/register.ts';
import { dropSessions } from '../../services/membership/sessions.ts';
import { BATCH_SIZE, drainBatches, forEachInBatches } from '../running/batches.ts';

interface Deps {
  pool: pg.Pool;
  store: EventStore;
  /** All read models; `texts` of a read model names the columns with members' texts. */
  projections?: readonly Projection[];
}

/** Erases one member, or all whose erasure is incomplete; returns how many it completed. */
export async function eraseMembers(
  deps: Deps,
  { member_id }: { member_id?: string | undefined } = {},
): Promise<number> {
  await query(deps.pool, dropLeftOver());
  if (member_id) return (await eraseMember(deps, member_id)) ? 1 : 0;
  return forEachInBatches(
    (limit) => query(deps.pool, membersToErase(limit)),
    (row) => eraseMember(deps, row.member_id),
  );
}

/**
 * Erases the names and texts of a deactivated member from the log, the read models and the primary
 * data. Each batch is a separate transaction that finds only what is left, so a retry after a crash
 * continues where the last run stopped; the final event is written once.
 */
async function eraseMember(deps: Deps, memberId: string): Promise<boolean> {
  const { pool, store } = deps;
  const request = await handle(store, SERVICE_ACTOR, deletionOf(memberId));
  if (!request) return false;
  while (await handle(store, SERVICE_ACTOR, closeMore(accountClosures, memberId, request)));
  await eraseLog(deps, memberId);
  const texts = (deps.projections ?? projections).flatMap((projection) => projection.texts ?? []);
  for (const text of texts) if (text.member) await eraseColumns(pool, text, memberId);
  await inOrder(async (last: ReceiptPlace | undefined) => {
    const filled = await query(pool, filledReceipts(memberId, last, BATCH_SIZE));
    await query(pool, emptyReceipts(memberId, filled));
    return filled;
  });
  for (const words of [CASE_WORDS, SUBMISSION_WORDS]) await eraseElsewhere(store, words, memberId);
  await drainBatches(pool, () => dropSessions(memberId, BATCH_SIZE));
  await drainBatches(pool, () => dropEndedVerifiers(memberId, BATCH_SIZE));
  await drainBatches(pool, () => dropBudgets(memberId, BATCH_SIZE));
  await drainBatches(pool, () => dropUses(memberId, BATCH_SIZE));
  return handle(store, SERVICE_ACTOR, completeCommand(memberId));
}

/** Runs `batch` after the last row of the batch before, until it returns fewer than `BATCH_SIZE`. */
async function inOrder<Row>(batch: (last: Row | undefined) => Promise<Row[]>): Promise<void> {
  for (let rows = await batch(undefined); rows.length === BATCH_SIZE; )
    rows = await batch(rows.at(-1));
}

/** Rows that are found by one walk over a member's rows and then erased in batches. */
const FOUND_ROWS = 20_000;

async function eraseColumns(pool: pg.Pool, texts: Texts, memberId: string): Promise<void> {
  for (;;) {
    const found = await query(pool, rowsWithTexts(texts, memberId, FOUND_ROWS));
    if (found.length === 0) return;
    for (let at = 0; at < found.length; at += BATCH_SIZE)
      await query(pool, eraseTextsIn(texts, memberId, found.slice(at, at + BATCH_SIZE)));
  }
}

async function eraseLog({ pool, store }: Deps, memberId: string): Promise<void> {
  const owner = memberOwner(memberId);
  await inOrder(async (last: ErasedNote | undefined) => {
    const gone = await query(pool, erasedNotes(memberId, last, BATCH_SIZE));
    const streams = gone.flatMap(({ note_id }) => [noteStream(note_id), screeningStream(note_id)]);
    await runTogether(pool, eraseStreams(owner, streams));
    return gone;
  });
  const kinds = streamKindsOf('member');
  for (let place: LogPosition | undefined = { stream_id: '', stream_version: 0 }; place; ) {
    const batch: OwnedText[] = await query(pool, ownedTexts(owner, kinds, place, BATCH_SIZE));
    const kept = await keptStreams(pool, memberId, batch);
    const erased = batch.filter(
      ({ stream_id, type, own }) => !kept.has(stream_id) || (own && !NOTE_TEXTS.includes(type)),
    );
    await runTogether(pool, eraseEvents(memberId, erased));
    place = batch.at(-1);
  }
  await eraseElsewhere(store, EVENT_WORDS, memberId);
}

/**
 * The streams of some events that belong to notes which stay. In these streams others' texts stay,
 * and of the member's own texts the note.
 */
async function keptStreams(
  pool: pg.Pool,
  memberId: string,
  events: readonly LogPosition[],
): Promise<Set<string>> {
  const ids = events
    .map(({ stream_id }) => ({ stream_id, id: stream_id.slice(-memberId.length) }))
    .filter(({ stream_id, id }) => [noteStream(id), screeningStream(id)].includes(stream_id));
  const notes = await query(
    pool,
    keptNotes(
      memberId,
      ids.map(({ id }) => id),
    ),
  );
  return new Set(
    notes.flatMap(({ note_id, own }) => [
      noteStream(note_id),
      screeningStream(note_id),
      ...(own ? [] : [noteCommentStream(note_id)]),
    ]),
  );
}

/** Erases a member's words in rows of other owners, batch by batch. */
async function eraseElsewhere<Row extends { owner_id: string }>(
  store: EventStore,
  words: WordsElsewhere<Row>,
  memberId: string,
): Promise<void> {
  const batch: Command<number> = defineCommand({
    load: { found: words.find(memberId, BATCH_SIZE) },
    decide: ({ found }) => ({
      appends: [],
      rows: found.length === 0 ? [] : eraseByOwner(words, found),
      reply: () => found.length,
    }),
  });
  while ((await handle(store, SERVICE_ACTOR, batch)) === BATCH_SIZE);
}

/** The options of a deletion whose erasure is incomplete; null if there is none. */
function deletionOf(memberId: string): Command<{ eraseNotes: boolean } | null> {
  return defineCommand({
    load: { events: readStream(memberOwner(memberId), `member-${memberId}`) },
    decide({ events }) {
      const last = events.at(-1);
      const { erase_notes } = (last?.data ?? {}) as { erase_notes?: boolean };
      const waits = last?.type === 'MemberDeactivated';
      return { appends: [], reply: () => (waits ? { eraseNotes: erase_notes === true } : null) };
    },
  });
}

function completeCommand(memberId: string): Command<boolean> {
  return defineCommand({
    lock: [memberId],
    load: {
      stream: memberStreams.load(memberOwner(memberId), memberId),
      cases: CASE_WORDS.find(memberId, BATCH_SIZE),
      submissions: SUBMISSION_WORDS.find(memberId, BATCH_SIZE),
    },
    decide({ stream, cases, submissions }) {
      const { appends } = stream.append(end(stream.state, { type: 'EraseMember' }));
      if (appends.length === 0) return NOTHING_TO_DO;
      return {
        appends,
        // Commands that read a submission before its erasure held the member's lock, so their
        // receipts are committed by now, and later commands no longer read its text.
        rows: [...eraseByOwner(CASE_WORDS, cases), ...eraseByOwner(SUBMISSION_WORDS, submissions)],
        reply: () => true,
      };
    },
  });
}
