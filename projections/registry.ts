import * as credentialEvents from '../services/credentials/events.ts';
import { EventCatalogue } from '../services/eventstore/event.ts';
import * as guestbookEvents from '../services/guestbook/events.ts';
import * as membershipEvents from '../services/membership/events.ts';
import { credentials } from './credentials.ts';
import { feedProjection } from './feed/feed.ts';
import { guestbookFeed } from './feed/guestbook.ts';
import { membershipFeed } from './feed/membership.ts';
import { members } from './members.ts';
import { notes } from './notes.ts';
import { projector } from './projection.ts';

const feed = feedProjection([membershipFeed, guestbookFeed]);

/** Every read model, in the order in which an event moves them. */
export const projections = [members, credentials, notes, feed.projection] as const;

export const project = projector(projections);

export const concerns = feed.concerns;

export const catalogue = new EventCatalogue([membershipEvents, credentialEvents, guestbookEvents]);
