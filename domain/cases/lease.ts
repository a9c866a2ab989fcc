// A claimed case whose lease has expired reads as open, with the version and the time that
// `CaseLeaseEnded` will set, so that recording the event changes nothing for a reader. `isLapsed` is
// the rule in TypeScript and `lapsedSql` the same rule in SQL: change both.

/** Whether the lease of a claimed case has expired at `now`. */
export function isLapsed(state: string, leaseExpiresAt: Date | null, now: Date): boolean {
  return state === 'claimed' && leaseExpiresAt !== null && leaseExpiresAt <= now;
}

interface Claimable<State> {
  state: State;
  version: number;
  updated_at: Date;
  lease_expires_at: Date | null;
  /** Whether the lease has expired; see `isLapsed`. */
  lapsed: boolean;
}

/** The state, version and time of change that a reader of the case sees. */
export function stateAsRead<State>(
  row: Claimable<State>,
): Pick<Claimable<State | 'open'>, 'state' | 'version' | 'updated_at'> {
  const { state, version, updated_at, lapsed, lease_expires_at: end } = row;
  return lapsed && end
    ? { state: 'open', version: version + 1, updated_at: end }
    : { state, version, updated_at };
}

/** `isLapsed` by the clock of the database. `alias` names the table in the statement. */
export const lapsedSql = (alias: string): string =>
  `${alias}.state = 'claimed' AND ${alias}.lease_expires_at <= now()`;

/** The columns of `stateAsRead`. */
export function stateAsReadSql(alias: string) {
  const read = (open: string, otherwise: string) =>
    `CASE WHEN ${lapsedSql(alias)} THEN ${open} ELSE ${otherwise} END`;
  return {
    state: read(`'open'`, `${alias}.state`),
    version: read(`${alias}.version + 1`, `${alias}.version`),
    updated_at: read(`${alias}.lease_expires_at`, `${alias}.updated_at`),
  };
}
