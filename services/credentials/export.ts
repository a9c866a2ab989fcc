import {
  credentialsAfter,
  type ListedCredential,
} from '../../projections/credentials/credentials.ts';
import { exportSection } from '../membership/export-section.ts';
import { Credential } from './contract.ts';
import { credentialBody } from './revoke.ts';

export const credentialsSection = exportSection<ListedCredential>({
  name: 'credentials',
  after: credentialsAfter,
  entry: credentialBody,
  schema: Credential,
});
