import { member } from '../../domain/membership/member.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';

/** The streams of members, each of which has the account's registration, recoveries and end. */
export const memberStreams = defineStream('member', member);
