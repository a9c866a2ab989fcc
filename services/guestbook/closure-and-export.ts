import { z } from 'zod';
import { endWithAuthor, erasedWithAuthor } from '../../domain/guestbook/scheduled-decisions.ts';
import { EXPERIENCES, noteStream } from '../../domain/guestbook/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { AnyUuid, Timestamp } from '../../platform/http/schemas.ts';
import { type AppealOfMember, appealsOfMember } from '../../projections/guestbook/note-appeals.ts';
import { noteReporters, openReports } from '../../projections/guestbook/note-reports.ts';
import {
  type NoteOfMember,
  type NoteToEnd,
  notesOfMember,
  notesToEnd,
} from '../../projections/guestbook/notes-of-member.ts';
import { defineAccountClosure } from '../account-closure.ts';
import { exportSection, ToldDecision } from '../export-section.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { NoteState } from './followup-contract.ts';

/** Keeps public notes without a name unless the member asks to erase them; erases all others. */
export const notesClosure = defineAccountClosure({
  find: (memberId, { eraseNotes }, limit) => noteReporters(notesToEnd(memberId, eraseNotes, limit)),
  load(memberId, { eraseNotes }, limit) {
    const notes = notesToEnd(memberId, eraseNotes, limit);
    return { notes, reports: openReports(notes) };
  },
  close(memberId, rows) {
    const reports = Map.groupBy(rows.reports, ({ note_id }) => note_id);
    const isOpen = ({ state }: NoteToEnd) => state === 'pending' || state === 'approved';
    return rows.notes.map((row) => ({
      owner: memberOwner(memberId),
      stream: noteStream(row.note_id),
      version: row.version,
      actor: { type: 'member', id: memberId },
      events: isOpen(row)
        ? endWithAuthor(
            row.note_id,
            (reports.get(row.note_id) ?? []).map(({ report_id, member_id }) => ({
              report_id,
              member_id,
            })),
          )
        : [erasedWithAuthor(row.note_id)],
    }));
  },
  rows: (_memberId, { notes }) => [
    dropLeases(
      'note',
      notes.map(({ note_id }) => note_id),
    ),
  ],
});

export const notesSection = exportSection<NoteOfMember>({
  name: 'notes',
  after: notesOfMember,
  entry: ({ note_id, submitted_at, approved_at, at: _, ...note }) => ({
    id: note_id,
    ...note,
    submitted_at: submitted_at.toISOString(),
    approved_at: approved_at?.toISOString() ?? null,
  }),
  schema: z
    .object({
      id: AnyUuid,
      experience: z.enum(EXPERIENCES),
      parent_id: AnyUuid.nullable(),
      message: z.string().nullable().describe('null once it was erased'),
      state: NoteState,
      decision: ToldDecision,
      submitted_at: Timestamp,
      approved_at: Timestamp.nullable(),
    })
    .meta({ id: 'ExportedNote' }),
});

export const appealsSection = exportSection<AppealOfMember>({
  name: 'appeals',
  after: appealsOfMember,
  entry: ({ appeal_id, note_id, of, text, state, opened_at, decided_at, message }) => ({
    id: appeal_id,
    note_id,
    decision_id: of,
    text,
    state,
    opened_at: opened_at.toISOString(),
    decided_at: decided_at?.toISOString() ?? null,
    message,
  }),
  schema: z
    .object({
      id: AnyUuid,
      note_id: AnyUuid,
      decision_id: AnyUuid,
      text: z.string().nullable().describe('null once it was erased'),
      state: z.enum(['open', 'granted', 'upheld', 'moot']),
      opened_at: Timestamp,
      decided_at: Timestamp.nullable(),
      message: z.string().nullable().describe('The message of the moderator who decided on it'),
    })
    .meta({ id: 'ExportedAppeal' }),
});
