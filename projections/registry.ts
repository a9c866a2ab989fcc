import { EventCatalogue } from '../platform/eventstore/event.ts';
import { activityProjections } from './activity/feature.ts';
import { artifactsProjections } from './artifacts/feature.ts';
import { casesProjections } from './cases/feature.ts';
import { credentialsProjections } from './credentials/feature.ts';
import { disablingProjections } from './disabling/feature.ts';
import type { ProjectionFeature } from './feature.ts';
import { guestbookProjections } from './guestbook/feature.ts';
import { membershipProjections } from './membership/feature.ts';
import { moderationProjections, statisticsProjections } from './moderation/feature.ts';
import { profilesProjections } from './profiles/feature.ts';
import { projector } from './projection.ts';
import { publicationsProjections } from './publications/feature.ts';
import { reportsProjections } from './reports/feature.ts';
import { screeningProjections } from './screening/feature.ts';
import { feedProjection } from './updates/feed.ts';

/** Every capability with events or read models, in the order in which an event updates these. */
const FEATURES: readonly ProjectionFeature[] = [
  membershipProjections,
  credentialsProjections,
  disablingProjections,
  guestbookProjections,
  moderationProjections,
  profilesProjections,
  artifactsProjections,
  casesProjections,
  reportsProjections,
  publicationsProjections,
  activityProjections,
  screeningProjections,
  statisticsProjections,
];

const feed = feedProjection(FEATURES.flatMap(({ feed: entries }) => (entries ? [entries] : [])));

/** Every read model; the feed comes last. */
export const projections = [
  ...FEATURES.flatMap(({ readModels = [] }) => readModels),
  feed.projection,
];

export const project = projector(projections);

export const affectedMembers = feed.affectedMembers;

export const catalogue = new EventCatalogue(
  FEATURES.flatMap(({ events }) => (events ? [events] : [])),
);
