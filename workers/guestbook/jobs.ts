import { defineJob, defineSweep, type Jobs } from '../job.ts';
import { closeAppeals } from './close-appeals.ts';
import { retention } from './erase-old-notes.ts';
import { NoteToNotify, notifyAuthor } from './notify-author.ts';

export const guestbookJobs = {
  'tell-author': defineJob({ schema: NoteToNotify, run: notifyAuthor }),
  'close-appeals': defineSweep(3600, closeAppeals),
  retention: defineSweep(86_400, retention),
} satisfies Jobs;
