import { defineJob, type Jobs } from '../job.ts';
import { screenNotes, ToScreen } from './screen-note.ts';

export const screeningJobs = {
  'screen-note': defineJob({ schema: ToScreen, run: screenNotes }),
} satisfies Jobs;
