import * as noteEvents from '../../domain/guestbook/events.ts';
import { closeAppeals, retention, screenNote, tellAuthor } from '../../domain/guestbook/jobs.ts';
import { importedNotes } from '../../projections/guestbook/imported-notes.ts';
import { noteAppeals } from '../../projections/guestbook/note-appeals.ts';
import { decisions } from '../../projections/guestbook/note-decisions.ts';
import { noteReports } from '../../projections/guestbook/note-reports.ts';
import { notes } from '../../projections/guestbook/notes.ts';
import { notesActivity } from '../../projections/guestbook/notes-activity.ts';
import { notesFeed } from '../../projections/guestbook/notes-feed.ts';
import type { Feature } from '../feature.ts';
import { appealsSection, notesClosure, notesSection } from './closure-and-export.ts';
import type { GuestbookDeps } from './deps.ts';
import { provableNote } from './note-stream.ts';

export const guestbookFeature: Feature<GuestbookDeps> = {
  jobs: [closeAppeals, retention, screenNote, tellAuthor],
  events: noteEvents,
  readModels: [notes, importedNotes, noteReports, noteAppeals, decisions],
  feed: notesFeed,
  activity: notesActivity,
  routes: () => import('./handlers.ts'),
  closure: notesClosure,
  exportSections: [notesSection, appealsSection],
  provableRecords: [provableNote],
};
