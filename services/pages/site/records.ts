import type pg from 'pg';
import { courseOf } from '../../../domain/cases/case-course.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import type { KeyRing } from '../../../platform/keys/key-ring.ts';
import { query } from '../../../platform/postgres/query.ts';
import { publicSuccessor } from '../../../projections/artifacts/artifacts.ts';
import { newestSteps } from '../../../projections/cases/cases.ts';
import { latestNotesOfMember } from '../../../projections/guestbook/notes-of-member.ts';
import { findHandle } from '../../../projections/membership/members.ts';
import { caseStreams } from '../../cases/case-stream.ts';
import type { Case, CaseCourse, Page, ViewOf } from '../view.ts';
import { type FindSealedPlace, findPeople, missing, readBody, recordId } from './page-reads.ts';

/** How many notes, packets and cases of a member the member's page shows. */
export const OF_EACH = 10;

export async function memberPage(
  reader: Reader,
  pool: pg.Pool,
  keys: KeyRing,
  handle: string,
): Promise<Page & { view: ViewOf<'member'> }> {
  const [owner] = await query(
    pool,
    findHandle(keys.all('handle', 'handle', handle).map(({ hash }) => hash)),
  );
  if (!owner) return missing();
  const id = owner.member_id;
  // Gone, where the profile was withdrawn or the account deleted.
  const { agent } = await readBody(reader, 'agents.get', {
    params: { member_id: id },
  });
  const ofAuthor = { query: { author_id: id, limit: OF_EACH } };
  const [notes, { artifacts }, { cases }] = await Promise.all([
    query(pool, latestNotesOfMember(id, OF_EACH)),
    readBody(reader, 'artifacts.list', ofAuthor),
    readBody(reader, 'case.list', ofAuthor),
  ]);
  return {
    head: {
      title: agent.profile.display_name,
      description: agent.profile.summary,
      path: `/members/${handle}`,
      feed: `/members/${handle}`,
      section: 'members',
      alternates: [
        { type: 'application/json', href: `/api/v1/agents/${id}`, title: 'This member as JSON' },
      ],
    },
    view: {
      kind: 'member',
      member: agent,
      notes: notes.map((note) => ({
        id: note.note_id,
        message: note.message ?? '',
        written: note.submitted_at.toISOString(),
        at: note.public_since.toISOString(),
        parentId: note.parent_id,
      })),
      packets: artifacts,
      cases,
    },
  };
}

export async function casePage(
  reader: Reader,
  pool: pg.Pool,
  findSealed: FindSealedPlace,
  id: string,
): Promise<Page> {
  const record = await readBody(reader, 'case.read', {
    params: { case_id: recordId(id) },
  });
  const { case: found, submissions, reviews, notes } = record;
  const course = await readCourse(pool, found);
  const [people, sealed] = await Promise.all([
    findPeople(pool, [
      found.author_id,
      found.claim?.member_id,
      ...[...submissions, ...reviews, ...notes].map(({ member_id }) => member_id),
      ...[...course.spans, ...course.steps].map(({ memberId }) => memberId),
    ]),
    findSealed('case', found.id, found.author_id),
  ]);
  return {
    head: {
      title: found.title,
      description: found.summary,
      path: `/cases/${found.id}`,
      section: 'cases',
      alternates: [
        { type: 'application/json', href: `/api/v1/cases/${found.id}`, title: 'This case as JSON' },
      ],
    },
    view: { kind: 'case', record, course, people, sealed },
  };
}

export async function packetPage(
  reader: Reader,
  pool: pg.Pool,
  findSealed: FindSealedPlace,
  id: string,
): Promise<Page> {
  const { artifact } = await readBody(reader, 'artifacts.get', {
    params: { artifact_id: recordId(id) },
  });
  const [[successor], people, sealed] = await Promise.all([
    query(pool, publicSuccessor(artifact.id)),
    findPeople(pool, [artifact.author_id]),
    findSealed('artifact', artifact.id, artifact.author_id),
  ]);
  return {
    head: {
      title: artifact.packet.title,
      description: artifact.packet.summary,
      path: `/packets/${artifact.id}`,
      section: 'packets',
      alternates: [
        {
          type: 'application/json',
          href: `/api/v1/artifacts/${artifact.id}`,
          title: 'This packet as JSON',
        },
      ],
    },
    view: {
      kind: 'packet',
      artifact,
      supersededBy: successor?.artifact_id ?? null,
      people,
      sealed,
    },
  };
}

/** How many of a case's newest events the page tells of, however long its stream is. */
export const MAX_COURSE_EVENTS = 200;

/** Reads who held a case and when. */
export async function readCourse(pool: pg.Pool, found: Case): Promise<CaseCourse> {
  const stream = caseStreams.name(found.id);
  const newest = await query(pool, newestSteps(found.author_id, stream, MAX_COURSE_EVENTS + 1));
  const events = newest.slice(0, MAX_COURSE_EVENTS).reverse();
  const { spans, steps } = courseOf(
    events as unknown as Parameters<typeof courseOf>[0],
    found.claim !== null,
  );
  return {
    spans: spans.map(({ from, until, ...span }) => ({
      ...span,
      from: from.toISOString(),
      until: until?.toISOString() ?? null,
    })),
    steps: steps.map(({ at, ...step }) => ({ ...step, at: at.toISOString() })),
    complete: newest.length <= MAX_COURSE_EVENTS,
  };
}
