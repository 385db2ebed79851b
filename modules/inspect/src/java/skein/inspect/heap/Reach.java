// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a program could still use, if threads that wait for ever use nothing.
 *
 * <p>The stack, the object and the thread-locals of a thread that waits hold what it waits for; so they are no roots until
 * something else reaches what could end its wait, or could interrupt it. Then they are, and so on until nothing more is
 * reached. This is the rule of Go's collector for leaked goroutines (golang/go#74609).
 *
 * <ul>
 *   <li>RE1 Everything that a running thread could use is reached: from classes, from native code and from the stacks of the
 *       threads that are not given as waiting, over all references. Weak ones count as the strong ones do.
 *   <li>RE2 The references that do not count are those in {@code OVER}, over which nobody ends a wait, and those of the
 *       inspector itself.
 * </ul>
 */
public final class Reach {
    /**
     * Fields, as {@code class.field}, over which nothing is used or woken: who may interrupt or unpark a thread does not
     * find it there.
     */
    private static final Set<String> OVER = Set.of(
            // What a thread waits for, which it holds itself. Only tools read it.
            "java.lang.Thread.parkBlocker",
            // Who did something, for comparison with the current thread.
            "clojure.lang.Var$TBox.thread",
            "java.util.concurrent.locks.AbstractOwnableSynchronizer.exclusiveOwnerThread",
            "java.util.concurrent.FutureTask$WaitNode.thread",
            // Whom to unpark when what the thread waits for has happened; that itself must be reached for it.
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$Node.waiter",
            "java.util.concurrent.CompletableFuture$Signaller.thread",
            "skein.rt.ThreadWaiter.thread",
            // Where a thread runs blocks; it alone uses that, and nobody interrupts it for another reason than to
            // cancel.
            "skein.rt.Runner.frame",
            "skein.rt.schedule.Detached.thread",
            "skein.rt.schedule.WorkerRunner.thread",
            // Weak maps from what waits, for reports alone.
            "skein.rt.SourceChannel.PENDING",
            "skein.rt.watch.AsyncTrace.SPAWNERS",
            "skein.rt.watch.Failures.FAILED",
            "skein.rt.watch.Failures.GIVEN_NIL");

    /** Classes of which no field counts: the inspector's, and the JDK's list of virtual threads, which is for dumps. */
    private static final Set<String> OPAQUE = Set.of(
            "skein.inspect.rt.Entry",
            "skein.inspect.rt.ChannelNames",
            "skein.inspect.rt.Registry",
            "skein.inspect.rt.Registry$Waiting",
            "jdk.internal.vm.SharedThreadContainer",
            "jdk.internal.vm.ThreadContainers",
            "jdk.internal.vm.ThreadContainers$RootContainer$CountingRootContainer",
            "jdk.internal.vm.ThreadContainers$RootContainer$TrackingRootContainer");

    private final HeapFile file;
    private final BitSet reached; // by slot
    private final BitSet keys; // slots of the keys of opens
    private final Map<Long, List<Integer>> opens = new HashMap<>(); // what, if it is reached, lets which threads go on
    private final Map<Integer, List<Long>> held =
            new HashMap<>(); // by waiting thread, what its stack and its like hold
    private int[] todo = new int[1 << 12]; // slots, as a stack
    private int n;

    private Reach(HeapFile file) {
        this.file = file;
        reached = new BitSet(file.index.slots());
        keys = new BitSet(file.index.slots());
    }

    /**
     * What can be reached in a file.
     *
     * @param waiting threads that wait without a limit, and what of each must be reached for the wait to end
     */
    public static Reach of(HeapFile file, Map<Long, Long> waiting) {
        Reach reach = new Reach(file);
        waiting.forEach((thread, blocker) -> {
            int number = file.threadNumber(thread);
            reach.held.put(number, new ArrayList<>());
            reach.opensOn(thread, number);
            reach.opensOn(blocker, number);
        });
        reach.mark();
        return reach;
    }

    /** Returns whether the program could still use the object. */
    public boolean isReached(long id) {
        int slot = file.index.find(id);
        return slot >= 0 && reached.get(slot);
    }

    private void opensOn(long id, int thread) {
        keys.set(file.index.find(id));
        opens.computeIfAbsent(id, key -> new ArrayList<>()).add(thread);
    }

    private void mark() {
        for (HeapFile.Root root : file.roots) {
            List<Long> of = held.get(root.thread());
            if (of == null) push(root.object());
            else of.add(root.object());
        }
        for (Type type : file.types()) push(type.id);
        while (n > 0) follow(file.index.place(todo[--n]));
    }

    private void push(long id) {
        int slot = file.index.find(id);
        if (slot < 0 || reached.get(slot)) return;
        reached.set(slot);
        if (n == todo.length) todo = Arrays.copyOf(todo, n * 2);
        todo[n++] = slot;
        if (keys.get(slot))
            opens.get(id).forEach(thread -> held.replace(thread, List.of()).forEach(this::push));
    }

    private void follow(long place) {
        MappedFile bytes = file.bytes;
        switch (bytes.u1(place)) {
            case HeapFile.CLASS -> {
                Type type = file.typeOfClass(bytes.i8(place + 1));
                push(type.loader);
                if (OPAQUE.contains(type.name)) return;
                for (Type.Field f : type.statics) if (!OVER.contains(type.name + "." + f.name())) push(f.value());
            }
            case HeapFile.INSTANCE -> {
                Type type = file.typeAt(place);
                if (type == null || OPAQUE.contains(type.name)) return;
                for (int offset : type.followed(OVER::contains)) push(bytes.i8(place + HeapFile.BODY + offset));
            }
            case HeapFile.OBJECTS -> {
                long elements = bytes.u4(place + 13);
                for (long i = 0; i < elements; i++) push(bytes.i8(place + HeapFile.BODY + 8 * i));
            }
            default -> {} // numbers
        }
    }
}
