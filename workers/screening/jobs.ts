import * as types from '../../domain/guestbook/jobs.ts';
import { runs } from '../running/job.ts';
import { screenNotes } from './screen-note.ts';

export const screeningJobs = [runs(types.screenNote, screenNotes)];
