/** Writes stop until the replica has this, milliseconds. With more to apply they would stop for seconds, and Valkey then give up. */
export const LAG_BYTES = 1024 * 1024;
