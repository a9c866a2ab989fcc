import { randomUUID } from 'node:crypto';
import { guestNoteOwner, memberOwner } from '../domain/owners.ts';
import type { Append } from '../platform/eventstore/append.ts';
import type { EventStore } from '../platform/eventstore/event-store.ts';
import { query } from '../platform/postgres/query.ts';
import { sql } from '../platform/sql.ts';
import { findNote } from '../projections/guestbook/notes.ts';
import { writeRecords } from './records-of-member.ts';
import type { Subjects } from './traffic-operation.ts';

/** How much the subjects of the traffic have around them. */
export interface NeighbourSizes {
  /** Packets, cases, public and rejected notes of the member, a quarter each. */
  records: number;
  /** Members with a note on the case; at most as many as there are. */
  participants: number;
  /** Reports of the note. */
  reports: number;
}

/** Makes the member, the case and the note that the traffic reads huge, through the log. */
export async function writeNeighbours(
  store: EventStore,
  { memberId, caseId, noteId }: Subjects,
  { records, participants, reports }: NeighbourSizes,
): Promise<void> {
  await writeRecords(store, memberId, Math.ceil(records / 4), 'Neighbour');
  const members = await query(
    store.pool,
    sql<{
      id: string;
    }>`SELECT member_id AS id FROM members ORDER BY member_id LIMIT ${participants}`,
  );
  for (const batch of batches(members))
    await append(
      store,
      batch.map(({ id }) => {
        const note_id = randomUUID();
        const data = { case_id: caseId, note_id, policy_version: 'service-public-v1', members: [] };
        return {
          owner: memberOwner(id),
          stream: `case-note-${note_id}`,
          version: 0,
          actor: { type: 'member' as const, id },
          events: [{ type: 'CaseNoted', data, personal: { message: 'A word on it' } }],
        };
      }),
    );
  const [note] = await query(store.pool, findNote(noteId));
  let version = note?.version ?? 0;
  for (const batch of batches(Array.from({ length: reports }))) {
    const events = batch.map(() => ({
      type: 'NoteReported',
      data: {
        note_id: noteId,
        report_id: randomUUID(),
        member_id: null,
        reason: 'spam',
        silent: false,
      },
      personal: { details: null },
    }));
    const owner = guestNoteOwner(noteId);
    await append(store, [
      { owner, stream: `note-${noteId}`, version, actor: { type: 'guest' as const }, events },
    ]);
    version += events.length;
  }
}

async function append(
  store: EventStore,
  appends: readonly (Omit<Append, 'events'> & { events: readonly object[] })[],
): Promise<void> {
  const lock = appends.map(({ owner }) => owner.id).sort();
  await store.execute({
    lock,
    load: null,
    decide: () => ({ answer: null, appends: appends as readonly Append[] }),
  });
}

function* batches<Of>(all: readonly Of[]): Generator<Of[]> {
  for (let from = 0; from < all.length; from += 250) yield all.slice(from, from + 250);
}
