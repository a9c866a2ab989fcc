import * as noteEvents from '../../domain/guestbook/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { noteAppeals } from './note-appeals.ts';
import { decisions } from './note-decisions.ts';
import { noteReports } from './note-reports.ts';
import { notes } from './notes.ts';
import { notesFeed } from './notes-feed.ts';

export const guestbookProjections: ProjectionFeature = {
  events: noteEvents,
  readModels: [notes, noteReports, noteAppeals, decisions],
  feed: notesFeed,
};
