// SPDX-License-Identifier: Apache-2.0
package skein.reactive;

import clojure.java.api.Clojure;
import clojure.lang.IFn;
import java.util.concurrent.Flow.Publisher;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The Reactive Streams rules of publishers, on channels; run by skein.async.reactive-test. */
public class PublisherTck extends FlowPublisherVerification<Object> {

    /** How long the kit waits for a signal, and for none, in milliseconds. */
    static TestEnvironment environment() {
        return new TestEnvironment(2000, 100);
    }

    /** A function of skein.async.reactive-test. */
    static IFn made(String name) {
        return Clojure.var("skein.async.reactive-test", name);
    }

    public PublisherTck() {
        super(environment());
    }

    @Override
    @SuppressWarnings("unchecked")
    public Publisher<Object> createFlowPublisher(long elements) {
        return (Publisher<Object>) made("publisher-of").invoke(elements);
    }

    @Override
    @SuppressWarnings("unchecked")
    public Publisher<Object> createFailedFlowPublisher() {
        return (Publisher<Object>) made("failed-publisher").invoke();
    }
}
