import type pg from 'pg';
import { courseOf } from '../../../domain/cases/case-course.ts';
import { query } from '../../../platform/postgres/query.ts';
import { newestSteps } from '../../../projections/cases/case-steps.ts';
import { caseStreams } from '../../cases/case-stream.ts';
import type { Case, CaseCourse } from './view.ts';

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
