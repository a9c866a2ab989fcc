import { z } from 'zod';
import { defineJobType, defineSweep, jobOf, KEPT, ONCE } from '../../platform/jobs/job-type.ts';

/** Names a decision on a note by the note's version after it. */
export const tellAuthor = defineJobType({
  queue: 'tell-author',
  schema: z.object({ note_id: z.uuid(), version: z.int() }),
  retry: ONCE,
});

export const closeAppeals = defineSweep('close-appeals', 3600);

export const retention = defineSweep('retention', 86_400);

export const screenNote = defineJobType({
  queue: 'screen-note',
  schema: z.object({ note_ids: z.array(z.uuid()) }),
  // Three attempts within half a minute; until then a console shows that a screening is pending.
  retry: { retryLimit: 2, retryDelay: 3, retryBackoff: true, expireInSeconds: 60, ...KEPT },
  urgent: true,
});

/** Before the jobs of notes that are screened again. */
const FIRST = { priority: 1 };

/** A job that has the workers screen these notes; group commit makes one job of several. */
export const screeningJob = (note_ids: string[]) =>
  jobOf(screenNote, { note_ids }, { ...FIRST, merges: true });

/** A job that screens only this note, so that no other note fails with it. */
export const separateScreeningJob = (note_id: string) =>
  jobOf(screenNote, { note_ids: [note_id] }, FIRST);

/** A job that has the workers screen these notes again when they have nothing else to screen. */
export const rescreeningJob = (note_ids: string[]) => jobOf(screenNote, { note_ids });
