import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { invoke, type Operations } from '../../../platform/http/invoke.ts';
import { issuesOf } from '../../../platform/http/issues.ts';
import { Problem, problemReply } from '../../../platform/http/problems.ts';
import type { RequestContext } from '../../../platform/http/route.ts';
import { Uuid } from '../../../platform/http/schemas.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal, type Refusal } from '../../../platform/refusal.ts';
import { findNoteNow, findNoteWithParent } from '../../../projections/guestbook/notes.ts';
import { noteBody } from '../../guestbook/read.ts';
import { takesReplies } from '../../guestbook/state.ts';
import { publicStatus } from '../../guestbook/submit.ts';
import { anyGuestbook } from './guestbook.ts';
import { missing, recordId } from './missing.ts';
import type { Experience, NoteParent, Page, ViewOf } from './view.ts';

type WriteView = ViewOf<'write'>;

/** The fields of the form as a browser sends them. */
export interface Form {
  id: string;
  experience: string;
  parent_id: string;
  name: string;
  message: string;
  website: string;
}

/** An empty form for a note in a guestbook, or for a reply to a note. */
export async function writePage(
  pool: pg.Pool,
  asked: { in?: string | undefined; reply_to?: string | undefined },
): Promise<Page> {
  const fields = { id: randomUUID(), name: '', message: '', problems: {} };
  if (!asked.reply_to)
    return page({ ...fields, experience: anyGuestbook(asked.in ?? 'service'), parent: null });
  const parent = await findParent(pool, recordId(asked.reply_to));
  return parent ? page({ ...fields, experience: parent.experience, parent }) : missing();
}

/** Finds a public note that takes replies. */
async function findParent(
  pool: pg.Pool,
  noteId: string,
): Promise<(NoteParent & { experience: Experience }) | undefined> {
  const [row] = await query(pool, findNoteWithParent(noteId));
  if (!row || !takesReplies(row, row.experience)) return undefined;
  const { id, name, message, experience } = noteBody(row);
  return { id, name, message, experience };
}

function page(view: Omit<WriteView, 'kind'>): Page {
  const title = view.parent ? 'Write a reply' : 'Write a note';
  return {
    head: {
      title,
      description: 'A moderator reads every note before it appears.',
      path: '/write',
      section: 'guestbook',
      hidden: true,
    },
    view: { kind: 'write', ...view },
  };
}

/** Refusals that leave the text to its author, beside the reason. */
const AMENDABLE = ['submission_conflict', 'reply_target_unavailable'];

/**
 * Submits the note of a form as a guest's, by the operation of the API. Returns the id if it was
 * accepted, the form again with the reasons if its author can amend it, and any other refusal as it
 * is.
 */
export async function sign(
  operations: Operations,
  pool: pg.Pool,
  form: Form,
  request: RequestContext,
): Promise<{ accepted: string } | { again: Page } | Refusal<'rate_limited' | 'admission_closed'>> {
  const operation = operations.get('guestbook.submit');
  if (!operation) throw new Error('there is no operation guestbook.submit');
  const body = { ...form, parent_id: form.parent_id || null, attribution: 'guest' };
  const input = { params: {}, query: {}, body };
  try {
    const outcome = await invoke(operation, { kind: 'anonymous' }, input, request);
    if (!isRefusal(outcome)) return { accepted: form.id };
    if (!AMENDABLE.includes(outcome.refused))
      return outcome as Refusal<'rate_limited' | 'admission_closed'>;
    const { error } = problemReply(outcome.refused, outcome.details ?? {}, request.id).body;
    return { again: await formAgain(pool, form, { '': error.message }) };
  } catch (error) {
    const issues = error instanceof Problem ? issuesOf(error.details) : [];
    if (issues.length === 0) throw error;
    const problems = issues.map(({ path, message }) => [path, message] as const);
    return { again: await formAgain(pool, form, Object.fromEntries(problems)) };
  }
}

/**
 * The form with what its author wrote. After a conflict the text gets a new id, as another note; if
 * the note to reply to is no longer public, it becomes a note without a parent.
 */
async function formAgain(
  pool: pg.Pool,
  form: Form,
  problems: Record<string, string>,
): Promise<Page> {
  const replyTo = Uuid.safeParse(form.parent_id).data;
  const parent = replyTo ? await findParent(pool, replyTo) : undefined;
  const { name, message } = form;
  return page({
    id: '' in problems ? randomUUID() : form.id,
    experience: parent?.experience ?? anyGuestbook(form.experience),
    parent: parent ?? null,
    name,
    message,
    problems,
  });
}

/** The status of a note, for anyone who knows its id: what its author may know of it. */
export async function sentPage(pool: pg.Pool, givenId: string, undoSeconds: number): Promise<Page> {
  const [note] = await query(pool, findNoteNow(recordId(givenId)));
  if (!note) return missing();
  const status = publicStatus(note, undoSeconds, note.now);
  return {
    head: {
      title: 'Your note',
      description: 'The status of a submitted note.',
      path: `/notes/${note.note_id}/sent`,
      section: 'guestbook',
      hidden: true,
    },
    view: { kind: 'sent', status, id: note.note_id },
  };
}
