import * as credentialEvents from '../services/credentials/events.ts';
import { EventCatalogue } from '../services/eventstore/event.ts';
import * as membershipEvents from '../services/membership/events.ts';
import * as moderationEvents from '../services/moderation/events.ts';
import * as noteEvents from '../services/notes/events.ts';
import * as screeningEvents from '../services/screening/events.ts';
import { credentials } from './credentials.ts';
import { decisions } from './decisions.ts';
import { feedProjection } from './feed/feed.ts';
import { membershipFeed } from './feed/membership.ts';
import { notesFeed } from './feed/notes.ts';
import { members } from './members.ts';
import { moderators } from './moderators.ts';
import { notes } from './notes.ts';
import { policies } from './policies.ts';
import { projector } from './projection.ts';
import { screenings } from './screenings.ts';

const feed = feedProjection([membershipFeed, notesFeed]);

/** Every read model, in the order in which an event moves them. */
export const projections = [
  members,
  credentials,
  notes,
  moderators,
  decisions,
  policies,
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
  screeningEvents,
]);
