import type pg from 'pg';
import { REPORT_REASONS } from '../../../domain/guestbook/words.ts';
import { type ErrorPage, FormRefused } from '../../../platform/http/handle-request.ts';
import { invoke, type Operations } from '../../../platform/http/invoke.ts';
import { issuesOf } from '../../../platform/http/issues.ts';
import { Problem, problemFrom } from '../../../platform/http/problems.ts';
import type { RequestContext } from '../../../platform/http/route.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { toLine, withoutRefused } from '../../../platform/visible-text.ts';
import { findNoteWithParent } from '../../../projections/guestbook/notes.ts';
import { recordPath } from '../../navigation.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import type { ReportRequest } from '../../reports/contract.ts';
import type { Page, ReportSubject } from '../view.ts';
import { findPeople, missing, recordId } from './page-reads.ts';

/** The fields of the form as a browser sends them. */
export interface ReportForm {
  type: string;
  id: string;
  reason: string;
  details: string;
  website: string;
}

export interface ReportDeps {
  readPool: pg.Pool;
  publicationKinds: readonly PublicationKind[];
  operations: () => Operations;
  /** Reports a record as the member of the request's session. */
  reportRecord: (
    kind: PublicationKind,
    report: ReportRequest,
    request: RequestContext,
  ) => Promise<unknown>;
}

const MAX_TITLE = 80;

/** Finds what is to be reported, as its page shows it. Fails unless it is public. */
async function findSubject(
  { readPool: pool, publicationKinds }: ReportDeps,
  type: string,
  givenId: string,
): Promise<ReportSubject> {
  const id = recordId(givenId);
  if (type === 'note') {
    const [note] = await query(pool, findNoteWithParent(id));
    const isPublic =
      note?.state === 'approved' && (!note.parent_id || note.parent_state === 'approved');
    if (!isPublic) return missing();
    return { type, id, title: toLine(note.message ?? '', MAX_TITLE), href: `/notes/${id}` };
  }
  const kind = publicationKinds.find((one) => one.type === type);
  const [row] = kind ? await query(pool, kind.records([id])) : [];
  if (!kind || !row?.public) return missing();
  const people = kind.type === 'profile' ? await findPeople(pool, [id]) : {};
  const href = row.case_id
    ? `/cases/${row.case_id}#${id}`
    : recordPath({ kind: kind.type, id }, people);
  const title = kind.type === 'case_note' ? row.text : row.title;
  return { type: kind.type, id, title: toLine(title ?? '', MAX_TITLE), href };
}

function page(
  subject: ReportSubject,
  form: { reason: string; details: string },
  problems: Readonly<Record<string, string>>,
): Page {
  const { reason, details } = form;
  return {
    head: {
      title: 'Report to the moderators',
      description: 'Report something public to the moderators.',
      path: '/report',
      hidden: true,
    },
    view: { kind: 'report', subject, reason, details, problems },
  };
}

/** An empty form for a report. */
export async function reportPage(
  deps: ReportDeps,
  { type, id }: Pick<ReportSubject, 'type' | 'id'>,
): Promise<Page> {
  return page(await findSubject(deps, type, id), { reason: '', details: '' }, {});
}

const MEMBERS_ONLY =
  'Members alone can report this. Sign in on the page of your account, then send the report again.';

/**
 * Sends the report of a form. Returns nothing if it was received, and the form again with the reasons if
 * its author can amend it. Throws any other refusal with the form, since it can be sent again.
 */
export async function sendReport(
  deps: ReportDeps,
  form: ReportForm,
  request: RequestContext,
  show: (page: Page) => ReturnType<ErrorPage>,
): Promise<Page | undefined> {
  const subject = await findSubject(deps, form.type, form.id);
  const details = withoutRefused(form.details);
  const again = (problems: Record<string, string>) =>
    page(subject, { reason: form.reason, details }, problems);
  const reason = REPORT_REASONS.find((one) => one === form.reason);
  if (!reason) return again({ reason: 'Choose a reason.' });
  if ([...details].length > 1000)
    return again({ details: 'It must have at most 1000 characters.' });
  if (form.website !== '')
    return again({ '': 'Your browser filled a hidden field. Send it again.' });
  const report = { reason, ...(details.trim() ? { details } : {}) };
  try {
    const outcome = await send(deps, subject, report, request);
    if (!isRefusal(outcome)) return undefined;
    if (outcome.refused === 'session_required') return again({ '': MEMBERS_ONLY });
    throw problemFrom(outcome);
  } catch (error) {
    const issues = error instanceof Problem ? issuesOf(error.details) : [];
    if (issues.length > 0)
      return again(Object.fromEntries(issues.map(({ path, message }) => [path, `It ${message}.`])));
    throw new FormRefused(error, async ({ message }) => show(again({ '': message })));
  }
}

/** By the operation of the API for a note, as a guest or as the member of the session. */
async function send(
  { publicationKinds, operations, reportRecord }: ReportDeps,
  { type, id }: ReportSubject,
  report: Pick<ReportRequest, 'reason'> & { details?: string },
  request: RequestContext,
) {
  const kind = publicationKinds.find((one) => one.type === type);
  if (kind) return reportRecord(kind, { subject: { type: kind.type, id }, ...report }, request);
  const operation = operations().get('guestbook.report');
  if (!operation) throw new Error('there is no operation guestbook.report');
  const input = { params: { id }, query: {}, body: report };
  return invoke(operation, { kind: 'anonymous' }, input, request);
}

/** The answer to a report. */
export const REPORTED: Page = {
  head: {
    title: 'Thank you',
    description: 'The report was received.',
    path: '/report/sent',
    hidden: true,
  },
  view: { kind: 'reported' },
};
