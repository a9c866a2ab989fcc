import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { takesReplies } from '../../../domain/guestbook/state.ts';
import { EXPERIENCES } from '../../../domain/guestbook/words.ts';
import { type ErrorPage, FormRefused } from '../../../platform/http/handle-request.ts';
import { invoke, type Operations } from '../../../platform/http/invoke.ts';
import { issuesOf } from '../../../platform/http/issues.ts';
import {
  Problem,
  type ProblemCode,
  problemFrom,
  problemReply,
} from '../../../platform/http/problems.ts';
import type { RequestContext } from '../../../platform/http/route.ts';
import { Uuid } from '../../../platform/http/schemas.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { withoutRefused } from '../../../platform/visible-text.ts';
import { findNoteNow, findNoteWithParent } from '../../../projections/guestbook/notes.ts';
import { publicStatus } from '../../guestbook/outcome.ts';
import { noteBody } from '../../guestbook/read.ts';
import type { Experience, NoteParent, Page, ViewOf } from '../view.ts';
import { anyGuestbook } from './guestbook.ts';
import { missing, recordId } from './page-reads.ts';

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

/** Refusals after which the text can be sent as another note. */
const AMENDABLE = ['submission_conflict', 'reply_target_unavailable'];

/** Why a form could not be sent now, by the code of the problem. */
const LATER: Readonly<Partial<Record<ProblemCode, string>>> = {
  rate_limited: 'Too many notes came from your network. Wait ten minutes, then send it again.',
  admission_closed: 'The guestbook takes no notes at the moment. Send it again later.',
  storage_unavailable: 'The service cannot save anything at the moment. Send it again in a minute.',
  outcome_unconfirmed:
    'We do not know whether your note arrived. Send it again: it is posted only once.',
};

/**
 * Submits the note of a form as a guest's, by the operation of the API. Returns the id if it was
 * accepted, and the form again with the reasons if its author can amend it. Throws any other refusal
 * or error with the form, since the author may send it again.
 */
export async function sign(
  operations: Operations,
  pool: pg.Pool,
  form: Form,
  request: RequestContext,
  show: (page: Page) => ReturnType<ErrorPage>,
): Promise<{ accepted: string } | { again: Page }> {
  const operation = operations.get('guestbook.submit');
  if (!operation) throw new Error('there is no operation guestbook.submit');
  const { fields, problems } = mended(form);
  if (Object.keys(problems).length > 0) return { again: await formAgain(pool, fields, problems) };
  const body = { ...fields, parent_id: fields.parent_id || null, attribution: 'guest' };
  const input = { params: {}, query: {}, body };
  try {
    const outcome = await invoke(operation, { kind: 'anonymous' }, input, request);
    if (!isRefusal(outcome)) return { accepted: fields.id };
    if (!AMENDABLE.includes(outcome.refused)) throw problemFrom(outcome);
    const { error } = problemReply(outcome.refused, outcome.details ?? {}, request.id).body;
    const another = { ...fields, id: randomUUID() };
    return { again: await formAgain(pool, another, { '': error.message }) };
  } catch (error) {
    const issues = error instanceof Problem ? issuesOf(error.details) : [];
    if (issues.length > 0) {
      const reasons = issues.map(({ path, message }) => [path, message] as const);
      return { again: await formAgain(pool, fields, Object.fromEntries(reasons)) };
    }
    throw new FormRefused(error, async ({ code, message }) =>
      show(await formAgain(pool, fields, { '': LATER[code] ?? message })),
    );
  }
}

/** The form with what its author cannot see put right, and what its author should know of that. */
function mended(form: Form): { fields: Form; problems: Record<string, string> } {
  const problems: Record<string, string> = {};
  const fields = { ...form };
  if (!Uuid.safeParse(form.id).success) {
    fields.id = randomUUID();
    problems[''] = 'The form was out of date. Send it again.';
  }
  if (!EXPERIENCES.some((experience) => experience === form.experience)) {
    fields.experience = EXPERIENCES[0];
    problems[''] = 'There is no such guestbook. Send it again, and it goes to the first one.';
  }
  if (form.website !== '') {
    fields.website = '';
    problems[''] = 'Your browser filled a hidden field. Send it again.';
  }
  for (const name of ['message', 'name'] as const) {
    fields[name] = withoutRefused(form[name]);
    if (fields[name] !== form[name])
      problems[name] = 'had invisible control characters, which were removed. Send it again';
  }
  return { fields, problems };
}

/**
 * The form with what its author wrote. If the note to reply to is no longer public, it becomes a
 * note without a parent; while storage is unavailable, the parent stays but its text is unknown.
 */
async function formAgain(
  pool: pg.Pool,
  { id, experience, parent_id, name, message }: Form,
  problems: Record<string, string>,
): Promise<Page> {
  const replyTo = Uuid.safeParse(parent_id).data;
  const unknown = { name: '', message: '', experience: anyGuestbook(experience) };
  const parent = replyTo
    ? await findParent(pool, replyTo).catch(() => ({ id: replyTo, ...unknown }))
    : undefined;
  return page({
    id,
    experience: parent?.experience ?? unknown.experience,
    parent: parent ?? null,
    name,
    message,
    problems,
  });
}

/** The status of a note, for anyone who knows its id: what its author may know of it. */
export async function sentPage(
  pool: pg.Pool,
  givenId: string,
  undoSeconds: number,
  usualWait: () => Promise<string | undefined>,
): Promise<Page> {
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
    view: {
      kind: 'sent',
      status,
      id: note.note_id,
      usualWait: status === 'pending_review' ? await usualWait() : undefined,
    },
  };
}
