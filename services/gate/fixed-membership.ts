import type { Assignment, Membership } from "../runtime/membership.ts";

/**
 * The membership of a gate that is the only one on its log: it owns every partition while it runs.
 */
export class FixedMembership implements Membership {
  readonly assignment: Assignment;
  readonly isShared = false;
  readonly failed = new Promise<Error>(() => undefined);
  joined = false;

  constructor(partitions: number) {
    this.assignment = { epoch: 1, partitions: Array.from({ length: partitions }, (_, at) => at) };
  }

  async join(listener: (assignment: Assignment) => void): Promise<void> {
    this.joined = true;
    listener(this.assignment);
  }

  async leave(): Promise<void> {
    this.joined = false;
  }
}
