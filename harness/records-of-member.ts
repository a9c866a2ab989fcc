import { randomUUID } from 'node:crypto';
import { memberOwner } from '../domain/owners.ts';
import type { Append } from '../platform/eventstore/append.ts';
import type { EventStore } from '../platform/eventstore/event-store.ts';
import { asJob } from '../platform/postgres/request-deadline.ts';
import { brief } from './packets.ts';

const policy_version = 'service-public-v1';

/**
 * Gives a member `count` packets, cases and public notes each, and as many rejected notes, 100 of
 * them in a transaction. Every text contains `word`.
 */
export async function writeRecords(
  store: EventStore,
  id: string,
  count: number,
  word: string,
): Promise<void> {
  for (let left = count; left > 0; left -= 100) {
    const appends = Array.from({ length: Math.min(left, 100) }, () => recordsOf(id, word)).flat();
    // As a job: a busy machine takes longer than a request may.
    await asJob(() =>
      store.execute({ lock: [id], load: null, decide: () => ({ answer: null, appends }) }),
    );
  }
}

function recordsOf(id: string, word: string): Append[] {
  const [packet, opened, shown, refused] = Array.from({ length: 4 }, () => randomUUID() as string);
  return [
    packetOf(id, packet as string, word),
    append(id, `case-${opened}`, [
      {
        type: 'CaseOpened',
        data: { case_id: opened, author_id: id, artifact_id: null, policy_version },
        personal: { title: word, summary: word, objective: word, acceptance_criteria: [word] },
      },
    ]),
    append(id, `note-${shown}`, [
      submitted(id, shown as string, word),
      { type: 'NoteApproved', data: { note_id: shown, parent_author_id: null }, personal: null },
    ]),
    rejectedNoteOf(id, refused as string, word),
  ];
}

/** A published packet of a member. */
export const packetOf = (id: string, artifact_id: string, word: string): Append =>
  append(id, `artifact-${artifact_id}`, [
    {
      type: 'ArtifactPublished',
      data: { artifact_id, author_id: id, kind: 'brief', supersedes_id: null, policy_version },
      personal: { title: word, content_hash: '0'.repeat(64), packet: JSON.stringify(brief()) },
    },
  ]);

/** A rejected note of a member. */
export const rejectedNoteOf = (id: string, note_id: string, word: string): Append =>
  append(id, `note-${note_id}`, [
    submitted(id, note_id, word),
    { type: 'NoteRejected', data: { note_id, policy: 'spam' }, personal: { message: null } },
  ]);

const append = (id: string, stream: string, events: object[]): Append => ({
  owner: memberOwner(id),
  stream,
  version: 0,
  actor: { type: 'member', id },
  events: events as Append['events'],
});

const submitted = (member_id: string, note_id: string, message: string) => ({
  type: 'NoteSubmitted',
  data: {
    note_id,
    experience: 'observatory',
    attribution: 'member',
    parent_id: null,
    member_id,
  },
  personal: { name: '', message },
});
