import { EventCatalogue } from '../platform/eventstore/event.ts';
import * as artifactEvents from '../services/artifacts/events.ts';
import * as caseEvents from '../services/cases/events.ts';
import * as credentialEvents from '../services/credentials/events.ts';
import * as noteEvents from '../services/guestbook/events.ts';
import * as membershipEvents from '../services/membership/events.ts';
import * as moderationEvents from '../services/moderation/events.ts';
import * as profileEvents from '../services/profiles/events.ts';
import * as reportEvents from '../services/reports/events.ts';
import * as screeningEvents from '../services/screening/events.ts';
import { activity } from './activity/activity.ts';
import { artifacts } from './artifacts/artifacts.ts';
import { artifactsFeed } from './artifacts/artifacts-feed.ts';
import { caseMembers } from './cases/case-members.ts';
import { caseRecord } from './cases/case-record.ts';
import { cases } from './cases/cases.ts';
import { casesFeed } from './cases/cases-feed.ts';
import { credentials } from './credentials/credentials.ts';
import { noteAppeals } from './guestbook/note-appeals.ts';
import { decisions } from './guestbook/note-decisions.ts';
import { noteReports } from './guestbook/note-reports.ts';
import { notes } from './guestbook/notes.ts';
import { notesFeed } from './guestbook/notes-feed.ts';
import { members } from './membership/members.ts';
import { membershipFeed } from './membership/membership-feed.ts';
import { moderators } from './moderation/moderators.ts';
import { policies } from './moderation/policies.ts';
import { profiles } from './profiles/profiles.ts';
import { profilesFeed } from './profiles/profiles-feed.ts';
import { projector } from './projection.ts';
import { recordDecisions } from './publications/record-decisions.ts';
import { recordReports } from './publications/record-reports.ts';
import { reportsFeed } from './reports/reports-feed.ts';
import { screenings } from './screening/screenings.ts';
import { feedProjection } from './updates/feed.ts';

const feed = feedProjection([
  membershipFeed,
  notesFeed,
  profilesFeed,
  artifactsFeed,
  casesFeed,
  reportsFeed,
]);

/** Every read model, in the order in which an event updates them. */
export const projections = [
  members,
  credentials,
  notes,
  noteReports,
  noteAppeals,
  moderators,
  decisions,
  policies,
  profiles,
  artifacts,
  cases,
  caseMembers,
  caseRecord,
  recordReports,
  recordDecisions,
  activity,
  screenings,
  feed.projection,
] as const;

export const project = projector(projections);

export const affectedMembers = feed.affectedMembers;

export const catalogue = new EventCatalogue([
  membershipEvents,
  credentialEvents,
  noteEvents,
  moderationEvents,
  profileEvents,
  artifactEvents,
  caseEvents,
  screeningEvents,
  reportEvents,
]);
