import * as credentialEvents from '../../domain/credentials/events.ts';
import { expireCredentials } from '../../domain/credentials/jobs.ts';
import { implement } from '../../platform/http/route.ts';
import { credentials } from '../../projections/credentials/credentials.ts';
import type { Feature } from '../feature.ts';
import { credentialsClosure, credentialsDisabling } from './closure.ts';
import { credentialsContract } from './contract.ts';
import { credentialsSection } from './export.ts';
import { type CredentialsDeps, credentialsHandlers } from './handlers.ts';

export const credentialsFeature: Feature<CredentialsDeps> = {
  jobs: [expireCredentials],
  events: credentialEvents,
  readModels: [credentials],
  routes: (deps) => [implement(credentialsContract, credentialsHandlers(deps))],
  closure: credentialsClosure,
  disabling: credentialsDisabling,
  exportSections: [credentialsSection],
};
