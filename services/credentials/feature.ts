import * as credentialEvents from '../../domain/credentials/events.ts';
import { expireCredentials } from '../../domain/credentials/jobs.ts';
import { credentials } from '../../projections/credentials/credentials.ts';
import type { Feature } from '../feature.ts';
import {
  credentialsClosure,
  credentialsDisabling,
  credentialsRecovery,
  credentialsSection,
} from './closure-and-export.ts';
import type { CredentialsDeps } from './handlers.ts';

export const credentialsFeature: Feature<CredentialsDeps> = {
  jobs: [expireCredentials],
  events: credentialEvents,
  readModels: [credentials],
  routes: () => import('./handlers.ts'),
  closure: credentialsClosure,
  disabling: credentialsDisabling,
  recovery: credentialsRecovery,
  exportSections: [credentialsSection],
};
