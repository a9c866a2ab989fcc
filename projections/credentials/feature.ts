import * as credentialEvents from '../../domain/credentials/events.ts';
import type { ProjectionFeature } from '../feature.ts';
import { credentials } from './credentials.ts';

export const credentialsProjections: ProjectionFeature = {
  events: credentialEvents,
  readModels: [credentials],
};
