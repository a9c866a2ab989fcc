import t from 'tap';
import { member, type RegisterMember } from '../../../domain/membership/member.ts';
import { matchAll } from '../../support/match-all.ts';

const command: RegisterMember = {
  type: 'RegisterMember',
  handle: 'ada',
  handleHash: 'hash',
  handleKeyId: 1,
  handleTaken: false,
  handleReserved: false,
  activeMembers: 0,
  limited: false,
  limits: { members: 10 },
  admission: true,
};

t.test('registers a new id with a free handle', async (t) => {
  t.same(member.decide(member.initial, command), [
    {
      type: 'MemberRegistered',
      data: { handle_hash: 'hash', handle_key_id: 1 },
      personal: { handle: 'ada' },
    },
  ]);
});

t.test('refuses a registration for the first reason in order', async (t) => {
  const refused = (change: Partial<RegisterMember>, status: 'none' | 'active' | 'deactivated') =>
    member.decide({ status }, { ...command, ...change });
  t.same(refused({}, 'active'), { refused: 'registration_conflict' });
  t.same(refused({}, 'deactivated'), { refused: 'registration_conflict' });
  t.match(refused({ handleReserved: true, admission: false }, 'none'), {
    refused: 'invalid_request',
    details: { issues: [{ path: 'handle' }] },
  });
  t.same(refused({ handleReserved: true }, 'active'), { refused: 'registration_conflict' });
  const everything = { admission: false, activeMembers: 10, handleTaken: true };
  t.same(refused(everything, 'none'), { refused: 'admission_closed' });
  t.same(refused({ ...everything, admission: true }, 'none'), { refused: 'capacity_reached' });
  t.same(refused({ handleTaken: true }, 'none'), { refused: 'registration_conflict' });
  t.same(refused({ limited: true }, 'none'), { refused: 'rate_limited' });
});

t.test('recovers only an active member', async (t) => {
  const recover = { type: 'RecoverMember', operationId: 'o' } as const;
  matchAll(t, member.decide({ status: 'active' }, recover), [{ type: 'MemberRecovered' }]);
  for (const status of ['none', 'deactivated'] as const)
    t.same(member.decide({ status }, recover), { refused: 'credentials_not_accepted' });
});
