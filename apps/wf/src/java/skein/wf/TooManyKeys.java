// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/** Thrown before the heap is exhausted, if the distinct keys of all tallies need more memory than there is. */
public final class TooManyKeys extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** How many bytes the tables may take together. */
    public final long limitBytes;

    TooManyKeys(long limitBytes) {
        super("tables of more than " + limitBytes + " bytes");
        this.limitBytes = limitBytes;
    }
}
