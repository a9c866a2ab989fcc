import {
  type ProfileCommand,
  type ProfileContent,
  type ProfileState,
  profile,
} from '../../domain/profiles/profile.ts';
import type { Append } from '../../platform/eventstore/append.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { ReceiptBody } from '../../platform/http/schemas.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { findProfile, type ProfileRow } from '../../projections/profiles/profiles.ts';
import { defineMemberCommand, type MemberCommand } from '../credentials/run-member-command.ts';
import { dropLeases } from '../publications/review-leases.ts';
import type { ProfileBody } from './contract.ts';

export interface Publication extends ProfileContent {
  policy_version: string;
  expected_version?: number | undefined;
}

interface Published {
  status: 'published';
  profile: ProfileBody;
  receipt: ReceiptBody;
}

interface Withdrawn {
  status: 'withdrawn';
  id: string;
  version: number;
  receipt: ReceiptBody;
}

export function publishProfile(
  memberId: string,
  publication: Publication,
): MemberCommand<200, Published, 'state_conflict'> {
  const { display_name, summary, links, capabilities } = publication;
  const content = { display_name, summary, links, capabilities };
  return defineMemberCommand({
    load: findProfile(memberId),
    decide({ rows: [row], now }) {
      const append = decideProfile(memberId, row, {
        type: 'PublishProfile',
        content,
        policyVersion: publication.policy_version,
        expectedVersion: publication.expected_version,
        untold: row?.untold ?? null,
      });
      if (isRefusal(append)) return append;
      const version = append.version + append.events.length;
      return {
        status: 200,
        appends: byActor(append),
        body: (receipt) => ({
          status: 'published',
          profile: { ...content, version, published_at: now.toISOString() },
          receipt,
        }),
      };
    },
  });
}

export function withdrawProfile(memberId: string): MemberCommand<200, Withdrawn, 'state_conflict'> {
  return defineMemberCommand({
    load: findProfile(memberId),
    decide({ rows: [row] }) {
      const append = decideProfile(memberId, row, { type: 'WithdrawProfile', reason: 'author' });
      if (isRefusal(append)) return append;
      const version = append.version + append.events.length;
      return {
        status: 200,
        appends: [append],
        rows: [dropLeases('profile', [memberId])],
        body: (receipt) => ({ status: 'withdrawn', id: memberId, version, receipt }),
      };
    },
  });
}

/** Splits the append, because the notification of a removal is attributed to a moderator. */
function byActor(append: Append): Append[] {
  const told = append.events.filter(({ type }) => type === 'ProfileRemovalTold');
  if (told.length === 0) return [append];
  const own = append.events.slice(told.length);
  return [
    { ...append, actor: { type: 'moderator' }, events: told },
    { ...append, version: append.version + told.length, events: own },
  ];
}

/** Runs a member's command and returns its events as an append. */
export function decideProfile(
  memberId: string,
  row: ProfileRow | undefined,
  command: ProfileCommand,
): Append | Refusal<'state_conflict'> {
  const state = profileState(row);
  const events = profile.decide(state, command);
  if (isRefusal(events)) return events;
  return {
    owner: memberOwner(memberId),
    stream: `profile-${memberId}`,
    version: state.version,
    actor: { type: 'member', id: memberId },
    events,
  };
}

/** Builds the state from the read model, so that commands need not replay a long stream. */
export function profileState(row: ProfileRow | undefined): ProfileState {
  return row
    ? { status: row.state, version: row.version, told: row.removal_told }
    : profile.initial;
}
