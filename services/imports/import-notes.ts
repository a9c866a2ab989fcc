import { v4 as uuidv4 } from 'uuid';
import { importNote } from '../../domain/guestbook/imported-notes.ts';
import { rescreeningJob } from '../../domain/guestbook/jobs.ts';
import { type Experience, type ImportSource, noteStream } from '../../domain/guestbook/words.ts';
import { DECIDERS } from '../../domain/moderation/roles.ts';
import { guestNoteOwner } from '../../domain/owners.ts';
import type { OwnAppend } from '../../platform/eventstore/append.ts';
import { type Command, defineCommand } from '../../platform/eventstore/handle.ts';
import { refuse } from '../../platform/refusal.ts';
import { findImported, type ImportedNoteRow } from '../../projections/guestbook/imported-notes.ts';
import { holdModerator } from '../../projections/moderation/moderators.ts';

/** A comment of another program that fits the limits of a note. */
export interface ImportedComment {
  /** SHA-256 of the source, its site and the comment's id there. */
  sourceKey: string;
  /** The key of the top-level comment that it replies to. */
  parentKey: string | null;
  name: string;
  message: string;
  writtenAt: Date;
  /** Whether the source showed the comment. */
  published: boolean;
}

export interface Import {
  id: string;
  source: ImportSource;
  experience: Experience;
  /** The moderator who reviewed what the source showed; null if all notes wait for review. */
  reviewedBy: string | null;
}

/** What became of a comment. */
export type ImportResult =
  | 'pending'
  | 'approved'
  /** It was imported before. */
  | 'known'
  /** The comment that it replies to is not here, or was rejected, removed or withdrawn here. */
  | 'parent_gone';

/**
 * Imports a batch of comments in one transaction, each as the note of a guest with a new id. The
 * comments are in the order in which they were written, a comment before its replies. A comment that was
 * imported before adds nothing. An import notifies no member, and its notes have no receipt.
 */
export function importCommand(
  { id: importId, source, experience, reviewedBy }: Import,
  comments: readonly ImportedComment[],
): Command<ImportResult[], 'not_a_decider'> {
  const keys = comments.flatMap(({ sourceKey, parentKey }) => [sourceKey, parentKey ?? []].flat());
  return defineCommand({
    load: {
      // Locked, so that no parent of a reply is removed while the reply is approved.
      known: findImported(keys, { locked: true }),
      reviewers: reviewedBy === null ? null : holdModerator(reviewedBy),
    },
    decide({ known, reviewers: [reviewer] }) {
      if (reviewedBy !== null && !(reviewer && DECIDERS.includes(reviewer.role)))
        return refuse('not_a_decider');
      const notes = new Map(known.map((row): [string, Target] => [row.source_key, toTarget(row)]));
      const ids = noteIds(comments, reviewedBy !== null);
      const appends: OwnAppend[] = [];
      const added: string[] = [];
      const results = comments.map((comment): ImportResult => {
        if (notes.has(comment.sourceKey)) return 'known';
        const parent = comment.parentKey === null ? null : notes.get(comment.parentKey);
        if (parent === undefined || (parent && !takesImports(parent, experience)))
          return 'parent_gone';
        const noteId = ids.take();
        const approved =
          reviewedBy !== null &&
          comment.published &&
          (parent === null || parent.state === 'approved');
        appends.push({
          owner: guestNoteOwner(noteId),
          stream: noteStream(noteId),
          version: 0,
          events: importNote({
            ...{ noteId, experience, importId, source },
            parentId: parent?.noteId ?? null,
            name: comment.name,
            message: comment.message,
            sourceKey: comment.sourceKey,
            writtenAt: comment.writtenAt,
            reviewedBy: approved ? reviewedBy : null,
          }),
        });
        added.push(noteId);
        const state = approved ? 'approved' : 'pending';
        notes.set(comment.sourceKey, { noteId, state, isReply: parent !== null, experience });
        return state;
      });
      return {
        appends,
        // Behind the notes that guests and members submit meanwhile.
        jobs: added.length > 0 ? [rescreeningJob(added)] : [],
        reply: () => results,
      };
    },
  });
}

interface Target {
  noteId: string;
  state: ImportedNoteRow['state'];
  isReply: boolean;
  experience: Experience;
}

const toTarget = (row: ImportedNoteRow): Target => ({
  noteId: row.note_id,
  state: row.state,
  isReply: row.parent_id !== null,
  experience: row.experience,
});

/** Whether a note takes imported replies: it is top-level, and public or may become so. */
const takesImports = ({ state, isReply, experience }: Target, own: Experience): boolean =>
  (state === 'pending' || state === 'approved') && !isReply && experience === own;

/**
 * New ids for the notes of a batch. All notes of a batch have the same time, and lists order those by id: the
 * queue begins with the smallest, and a page of public notes with the newest approval, so ids fall where the
 * notes are approved.
 */
function noteIds(comments: readonly unknown[], approving: boolean): { take(): string } {
  const ids = comments.map(() => uuidv4()).sort();
  return { take: () => (approving ? ids.pop() : ids.shift()) as string };
}
