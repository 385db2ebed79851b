// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** What a block or a thread does with ports. */
public enum Operation {
    /** None yet, or none that can wait. */
    NONE,
    TAKE,
    PUT,
    ALTS
}
