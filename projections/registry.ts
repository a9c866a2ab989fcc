import * as artifactEvents from '../services/artifacts/events.ts';
import * as caseEvents from '../services/cases/events.ts';
import * as credentialEvents from '../services/credentials/events.ts';
import { EventCatalogue } from '../services/eventstore/event.ts';
import * as membershipEvents from '../services/membership/events.ts';
import * as moderationEvents from '../services/moderation/events.ts';
import * as noteEvents from '../services/notes/events.ts';
import * as profileEvents from '../services/profiles/events.ts';
import * as reportEvents from '../services/reports/events.ts';
import * as screeningEvents from '../services/screening/events.ts';
import { activity } from './activity.ts';
import { artifacts } from './artifacts.ts';
import { caseMembers } from './case-members.ts';
import { caseRecord } from './case-record.ts';
import { cases } from './cases.ts';
import { credentials } from './credentials.ts';
import { decisions } from './decisions.ts';
import { artifactsFeed } from './feed/artifacts.ts';
import { casesFeed } from './feed/cases.ts';
import { feedProjection } from './feed/feed.ts';
import { membershipFeed } from './feed/membership.ts';
import { notesFeed } from './feed/notes.ts';
import { profilesFeed } from './feed/profiles.ts';
import { reportsFeed } from './feed/reports.ts';
import { members } from './members.ts';
import { moderators } from './moderators.ts';
import { noteAppeals } from './note-appeals.ts';
import { noteReports } from './note-reports.ts';
import { notes } from './notes.ts';
import { policies } from './policies.ts';
import { profiles } from './profiles.ts';
import { projector } from './projection.ts';
import { recordDecisions } from './record-decisions.ts';
import { recordReports } from './record-reports.ts';
import { screenings } from './screenings.ts';

const feed = feedProjection([
  membershipFeed,
  notesFeed,
  profilesFeed,
  artifactsFeed,
  casesFeed,
  reportsFeed,
]);

/** Every read model, in the order in which an event moves them. */
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

export const concerns = feed.concerns;

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
