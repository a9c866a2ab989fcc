import { limitText, NETWORK_FACTOR, type RateLimit } from '../../platform/http/rate-limit.ts';
import { BOOTSTRAP_ATTEMPTS } from '../credentials/contract.ts';
import {
  GUEST_NOTES_PER_HOUR,
  NOTES_PER_DAY,
  NOTES_PER_TEN_MINUTES,
  REPORTS_PER_DAY,
  REPORTS_PER_TEN_MINUTES,
} from '../guestbook/limits.ts';
import { ALL_REGISTRATIONS, KEY_ATTEMPTS, REGISTRATIONS } from '../membership/contract.ts';
import { givenUpKeys } from '../membership/retire-key.ts';
import { MODERATOR_KEY_ATTEMPTS } from '../moderation/staff/contract.ts';
import { PASSKEY_CHALLENGES } from '../passkeys/contract.ts';
import { MCP_REQUESTS } from '../protocols/mcp/contract.ts';
import type { Context } from './context.ts';
import { counted, type Figure, type Section } from './report.ts';
import {
  access,
  activeMembers,
  MAX_COUNTED_ROWS,
  MAX_COUNTERS,
  moderatorsByRole,
  nearLimits,
  serverKeys,
  tableSizes,
  usedOfService,
} from './statements.ts';

const OF_SERVICE: readonly RateLimit[] = [ALL_REGISTRATIONS, GUEST_NOTES_PER_HOUR];
const OF_ADDRESS: readonly RateLimit[] = [
  KEY_ATTEMPTS,
  REGISTRATIONS,
  BOOTSTRAP_ATTEMPTS,
  PASSKEY_CHALLENGES,
  MODERATOR_KEY_ATTEMPTS,
  NOTES_PER_TEN_MINUTES,
  NOTES_PER_DAY,
  REPORTS_PER_TEN_MINUTES,
  REPORTS_PER_DAY,
  MCP_REQUESTS,
];
/** The share of a limit that deserves a look. */
const NEAR = 0.8;

export async function accessSection({ read }: Context): Promise<Section> {
  const [counts] = await read(access());
  const [total] = await read(activeMembers());
  const moderators = await read(moderatorsByRole());
  const sizes = await read(tableSizes(['credentials', 'sessions', 'passkeys']));
  const rows = (table: string): Figure => ({
    about: Math.round(sizes.find(({ name }) => name === table)?.rows ?? 0),
  });
  const count = (of: number | undefined) => counted(of ?? 0, MAX_COUNTED_ROWS);
  return {
    name: 'access',
    title: 'Credentials and sessions',
    facts: [
      ['members', 'Active members', total?.members ?? 0],
      ['credentials', 'Active credentials that expire', count(counts?.credentials)],
      ['credential_rows', 'Credentials, also those that ended', rows('credentials')],
      ['sessions', 'Sessions that have not ended', count(counts?.sessions)],
      ['session_rows', 'Sessions, also those that ended', rows('sessions')],
      ['passkeys', 'Passkeys', rows('passkeys')],
    ],
    tables: [
      {
        name: 'moderators',
        title: 'Active moderators',
        columns: [
          ['role', 'Role'],
          ['moderators', 'Moderators'],
        ],
        rows: moderators.map(({ role, moderators: those }) => [role, those]),
      },
    ],
  };
}

export async function limitsSection({ read, config }: Context): Promise<Section> {
  const compared = (limits: readonly RateLimit[]) =>
    limits.map(({ kind, window, setting }) => ({ kind, window, limit: config[setting] }));
  const ofAddress = compared(OF_ADDRESS).flatMap((one) => [
    one,
    { ...one, kind: `${one.kind}-network`, limit: NETWORK_FACTOR * one.limit },
  ]);
  const used = await read(usedOfService(compared(OF_SERVICE)));
  const near = await read(nearLimits(ofAddress));
  const [total] = await read(activeMembers());
  const shared = [
    { text: 'active members', used: total?.members ?? 0, limit: config.limitMembers },
    ...OF_SERVICE.map((limit) => ({
      text: limitText(limit),
      used: used.find(({ kind }) => kind === limit.kind)?.used ?? 0,
      limit: config[limit.setting],
    })),
  ];
  return {
    name: 'limits',
    title: 'Limits near exhaustion',
    tables: [
      {
        name: 'shared',
        title: 'Limits of all callers together',
        columns: [
          ['limit', 'What is limited'],
          ['used', 'Used'],
          ['of', 'Limit'],
        ],
        rows: shared.map(({ text, used: count, limit }) => [text, count, limit]),
      },
      {
        name: 'addresses',
        title: 'Addresses at four fifths of a limit',
        columns: [
          ['limit', 'Limit'],
          ['near', 'Near'],
          ['used_up', 'Used up'],
        ],
        rows: near.map(({ kind, near: close, used_up }) => [kind, close, used_up]),
      },
    ],
    warnings: shared
      .filter(({ used: count, limit }) => count >= NEAR * limit)
      .map(({ text, used: count, limit }) => `Of ${limit} ${text}, ${count} are used.`),
    hints: [
      `Addresses are counted among the newest ${MAX_COUNTERS.toLocaleString('en')} counters.`,
    ],
  };
}

export async function keysSection({ read, keys }: Context): Promise<Section> {
  const first = await read(serverKeys());
  const givenUp = await read(givenUpKeys());
  const state = (id: number): string => {
    if (id === keys.ids[0]) return 'newest';
    if (keys.ids.includes(id)) return 'verifies';
    if (keys.handleIds.includes(id)) return 'retired';
    return givenUp.some(({ key_id }) => key_id === id) ? 'given up' : 'not here';
  };
  return {
    name: 'keys',
    title: 'Server keys',
    tables: [
      {
        name: 'server_keys',
        title: 'Keys that this database was used with',
        columns: [
          ['key', 'Id'],
          ['state', 'In this process'],
          ['first_used_at', 'First used'],
          ['given_up_at', 'Given up'],
        ],
        rows: first.map(({ key_id: id, first_used_at }) => [
          id,
          state(id),
          first_used_at,
          givenUp.find(({ key_id }) => key_id === id)?.given_up_at ?? null,
        ]),
      },
    ],
    hints: ['npm run keys -- status counts what each key is used for.'],
  };
}
