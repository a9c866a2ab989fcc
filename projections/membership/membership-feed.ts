import * as credentials from '../../domain/credentials/events.ts';
import * as membership from '../../domain/membership/events.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { defineFeedEntries } from '../feed-entry.ts';

const member = (id: string) => ({ type: 'member', id });
const session = (id: string) => ({ type: 'session', id });
const credential = (id: string) => ({ type: 'credential', id });

/** Events hold ISO 8601 times; clients read `expires_at` in Unix seconds. */
const end = (data: { expires_at: string }) => unixSeconds(new Date(data.expires_at));

export const membershipFeed = defineFeedEntries(
  { ...membership, ...credentials },
  {
    MemberRegistered: ({ owner_id }) => ({
      member: owner_id,
      type: 'member.registered',
      subject: member(owner_id),
      data: {},
    }),
    MemberRecovered: ({ owner_id, data }) => ({
      member: owner_id,
      type: 'member.recovered',
      subject: member(owner_id),
      data: { operation_id: data.operation_id },
    }),
    MemberDeactivated: ({ owner_id }) => ({
      member: owner_id,
      type: 'member.deactivated',
      subject: member(owner_id),
      data: {},
    }),
    SessionStarted: ({ owner_id, data }) => ({
      member: owner_id,
      type: 'session.started',
      subject: session(data.session_id),
      data: { expires_at: end(data) },
    }),
    SessionEnded: ({ owner_id, data }) => ({
      member: owner_id,
      type: 'session.ended',
      subject: session(data.session_id),
      data: { reason: data.reason },
    }),
    CredentialCreated: ({ owner_id, data }) => ({
      member: owner_id,
      type: 'credential.created',
      subject: credential(data.credential_id),
      data: { scopes: data.scopes, expires_at: end(data) },
    }),
    CredentialRevoked: ({ owner_id, data }) => ({
      member: owner_id,
      type: data.reason === 'rotated' ? 'credential.rotated' : 'credential.revoked',
      subject: credential(data.credential_id),
      data: { reason: data.reason },
    }),
    CredentialExpired: ({ owner_id, data }) => ({
      member: owner_id,
      type: 'credential.expired',
      subject: credential(data.credential_id),
      data: {},
    }),
  },
);
