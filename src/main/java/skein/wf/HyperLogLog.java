// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * Estimates how many different keys were seen, in 16 KiB: the standard error is 0.8 %.
 *
 * <p>Source: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog", 2007. Differs: hashes of 64 bits, so large numbers need no
 * correction.
 */
final class HyperLogLog {
    private static final int BITS = 14;
    private static final int REGISTERS = 1 << BITS;

    private final byte[] registers = new byte[REGISTERS];

    /** Adds a key by its hash. */
    void add(long hash) {
        int register = (int) (hash >>> 64 - BITS);
        byte rank = (byte) (Long.numberOfLeadingZeros(hash << BITS | 1L << BITS - 1) + 1);
        if (rank > registers[register]) registers[register] = rank;
    }

    /** Adds the keys of another. */
    void add(HyperLogLog other) {
        for (int i = 0; i < REGISTERS; i++) if (other.registers[i] > registers[i]) registers[i] = other.registers[i];
    }

    /** The estimate. */
    long estimate() {
        double sum = 0;
        int zeros = 0;
        for (byte register : registers) {
            sum += 1.0 / (1L << register);
            if (register == 0) zeros++;
        }
        double raw = 0.7213 / (1 + 1.079 / REGISTERS) * REGISTERS * REGISTERS / sum;
        return Math.round(raw <= 2.5 * REGISTERS && zeros > 0 ? REGISTERS * Math.log((double) REGISTERS / zeros) : raw);
    }
}
