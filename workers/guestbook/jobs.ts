import * as types from '../../domain/guestbook/jobs.ts';
import { runs } from '../running/job.ts';
import { closeAppeals } from './close-appeals.ts';
import { eraseOldNotes } from './erase-old-notes.ts';
import { notifyAuthor } from './notify-author.ts';

export const guestbookJobs = [
  runs(types.tellAuthor, notifyAuthor),
  runs(types.closeAppeals, closeAppeals),
  runs(types.retention, eraseOldNotes),
];
