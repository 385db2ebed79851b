// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** An operation that waits, and can be taken back. */
interface Withdrawable {
  /** Takes the operation back. False when it has happened, or is about to: then it is completed as ever. */
  boolean withdraw();
}
