/** The limits of the service that is proven, which are low enough to be reached. */
export interface Limits {
  /** Writes of a member on a UTC day. */
  writes: number;
  /** Active credentials of a member. */
  credentials: number;
  /** Notes from one address in ten minutes. */
  notes: number;
  /** New members from one address on a UTC day. */
  registrations: number;
  /** Key attempts from one address in ten minutes. */
  attempts: number;
  /** Active members of the service. */
  members: number;
}
